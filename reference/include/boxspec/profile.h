/* Profiles: a policy compiled for one of its profiles, and what can be asked of it.
 *
 *   1. bs_profile_compile. 0: *out is the profile; the policy is not needed any more.
 *   2. bs_profile_check, any number of times. 0: the decision is filled. Negative: the path is
 *      refused, which is neither a permission nor a denial, and the error says why.
 *   3. Open decision.path and nothing else: it is what was decided about.
 *   4. bs_decision_clear; only paths of more than BS_CHECK_PATH_BYTES ever need it.
 *   5. bs_profile_free.
 *
 * The list of an operation is the profile's rules and behind them the global denies. The last entry
 * that matches decides. Where that is an exception, the last of the profile's own rules decides.
 *
 * A profile is immutable: any number of threads may ask it at once. Everything a profile hands out
 * stays its own until bs_profile_free, the rule that a decision names too.
 *
 * Rules come from the policy contract, conformance/contracts/policy/page.md; the ids there
 * (POLICY-...) name them.
 */
#ifndef BOXSPEC_PROFILE_H
#define BOXSPEC_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <boxspec/bytes.h>
#include <boxspec/error.h>
#include <boxspec/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The profile of those who name none. */
#define BS_UNRESTRICTED "unrestricted"

/* What matched_rule says where there is no rule to name. */
#define BS_NO_MATCHING_RULE "<no matching rule>" /* the list has a positive rule */
#define BS_NO_POSITIVE_RULE "[]"                 /* it has none */
#define BS_OUTSIDE_WORKSPACE "<outside workspace>"

enum bs_op { BS_OP_READ, BS_OP_MODIFY };

/* Flags of bs_profile_compile. */
#define BS_FOLD 1U /* names that a case-insensitive file system takes for one are one */

struct bs_profile;

/* `name` NULL means BS_UNRESTRICTED, which is read and modify `**` where the policy does not define
 * it. 0; BS_E_INVALID for a profile that the policy does not have, and for rules beyond the budget
 * of the matcher; BS_E_EXECUTION when memory ran out. */
BS_EXPORT int bs_profile_compile(const struct bs_policy *policy, const char *name, unsigned flags,
                                 struct bs_profile **out, struct bs_error *err);
BS_EXPORT void bs_profile_free(struct bs_profile *profile); /* NULL is nothing to free */

BS_EXPORT const char *bs_profile_name(const struct bs_profile *profile);

/* Whether it was compiled with BS_FOLD. */
BS_EXPORT bool bs_profile_folds(const struct bs_profile *profile);

/* True for the `unrestricted` that nobody defined. */
BS_EXPORT bool bs_profile_is_synthesized(const struct bs_profile *profile);

enum bs_entry_origin {
    BS_ENTRY_PROFILE,
    BS_ENTRY_DENY_READ,
    BS_ENTRY_DENY_MODIFY,
    BS_ENTRY_EXCEPTION /* of denyModify: within it the profile's own rules decide */
};

/* One entry of a resolved list. */
struct bs_entry {
    const char *rule; /* NUL-terminated normal form without `!`; `./!x` is the file `!x` */
    size_t rule_len;  /* bytes */
    bool negated;     /* a match denies; never of an exception */
    enum bs_entry_origin origin;
    enum bs_policy_source source;
    uint32_t line; /* from 1; 0 where no file has it */
    uint32_t column;
};

/* The resolved list in its order. NULL only when *n is 0. */
BS_EXPORT const struct bs_entry *bs_profile_entries(const struct bs_profile *profile, enum bs_op op,
                                                    size_t *n);

#define BS_CHECK_PATH_BYTES 4096 /* of a path; longer ones may need memory */

/* The stack that one check takes at most, whatever the policy and the path are, on top of what its
 * caller uses; in builds without sanitizers. Most take less than 1 KiB; only a profile that folds,
 * and one with rules that nothing but an automaton can match, need more. */
#define BS_CHECK_STACK_BYTES (48UL * 1024)

/* Need not be initialised: a check writes every field but those bytes of `buffer` that it does not
 * need. Not to be copied: `path` may point into it. */
struct bs_decision {
    bool allowed;
    const char *matched_rule; /* NUL-terminated, borrowed from the profile */
    size_t matched_rule_len;  /* bytes */
    const char *path;         /* the normal form: in the caller's path, in buffer or in owned */
    size_t path_len;          /* bytes; no NUL need follow */
    char *owned;
    char buffer[BS_CHECK_PATH_BYTES + 1];
};

/* `path` has `len` bytes, is relative to the root of the workspace and is normalised first
 * (boxspec/path.h). It must live as long as the decision is looked at. 0; BS_E_INVALID when the
 * path is refused; BS_E_EXECUTION when memory ran out for a long one. Negative: nothing is to be
 * cleared. Allocates nothing for paths up to BS_CHECK_PATH_BYTES. */
BS_EXPORT int bs_profile_check(const struct bs_profile *profile, enum bs_op op, const char *path,
                               size_t len, struct bs_decision *decision, struct bs_error *err);

/* May be called any number of times after a check that returned 0. */
BS_EXPORT void bs_decision_clear(struct bs_decision *decision);

/* The place where a path really lies.
 *
 * bs_check_resolved decides twice: about the path as it is written, and about the place where the
 * kernel would end up, links followed. Both must be allowed. Links count on the side of the rules
 * as well: a deny whose names before the first wildcard are links, or lead through links, denies
 * the place that they lead to. With `link` a link to `dir`, the deny `link/key` denies `dir/key`.
 * Links that only a wildcard of a rule names are not searched.
 *
 * The answer holds at the moment of the check. A program that can write below the root can put a
 * link in place before the file is opened (time of check to time of use), and no path shows a hard
 * link. If that matters, open the file first, by openat2 with RESOLVE_BENEATH or component by
 * component, or keep writers away from the tree.
 */
enum bs_follow {
    BS_FOLLOW_FINAL, /* for open, stat, exec */
    BS_FOLLOW_PARENT /* the last component as it is: for unlink, rename, readlink */
};

#define BS_MOST_LINKS 40 /* followed for one path; the kernel's number */

struct bs_resolved {
    struct bs_decision decision; /* the path as asked, relative to the root; both must be allowed */
    char *real;                  /* where it lies, relative to the root, `.`; NULL: outside */
    size_t real_len;             /* bytes; a NUL follows */
    char *owned;
};

/* `root` is an absolute path and may be a link itself. `path` is relative to it, or absolute: one
 * below the root, as it is given or as it really lies, is taken for the relative one; any other is
 * denied as BS_OUTSIDE_WORKSPACE. What does not exist lies where it would be made; a dangling link
 * lies where it points. A link of /proc does not say where it leads and counts as leading outside.
 * 0; BS_E_INVALID when the path, or the name of the place where it lies, is refused; BS_E_IO when
 * it cannot be seen where it, or a deny, lies: more than BS_MOST_LINKS links, no permission to
 * look; BS_E_EXECUTION when memory ran out. Negative: nothing is to be cleared. Any thread. */
BS_EXPORT int bs_check_resolved(const struct bs_profile *profile, const char *root, enum bs_op op,
                                const char *path, size_t len, enum bs_follow follow,
                                struct bs_resolved *resolved, struct bs_error *err);

/* The same below an open directory, which cannot be exchanged meanwhile; `root_fd` stays the
 * caller's. A descriptor has no name, so an absolute path is outside. */
BS_EXPORT int bs_check_resolved_at(const struct bs_profile *profile, int root_fd, enum bs_op op,
                                   const char *path, size_t len, enum bs_follow follow,
                                   struct bs_resolved *resolved, struct bs_error *err);

BS_EXPORT void bs_resolved_clear(struct bs_resolved *resolved); /* like bs_decision_clear */

/* Why the answer is what it is. */
struct bs_explained {
    const struct bs_entry *entry;
    bool matched;
    bool deciding; /* the one that matched_rule names; at most one */
};

struct bs_explanation {
    struct bs_decision decision; /* that of bs_profile_check */
    struct bs_explained *entries;
    size_t n_entries;
};

/* Returns like bs_profile_check; costs a match of every single entry. */
BS_EXPORT int bs_profile_explain(const struct bs_profile *profile, enum bs_op op, const char *path,
                                 size_t len, struct bs_explanation *explanation,
                                 struct bs_error *err);
BS_EXPORT void bs_explanation_clear(struct bs_explanation *explanation);

/* What would have to be written differently for the path to be allowed. */
enum bs_change_kind {
    BS_REMOVE_ENTRY,
    BS_ADD_RULE,     /* `rule` behind the profile's own rules for `op` */
    BS_ADD_EXCEPTION /* `!rule` at the end of denyModify, in the file of `source` */
};

struct bs_change {
    enum bs_change_kind kind;
    const struct bs_entry *entry; /* to be removed, else NULL */
    enum bs_op op;
    enum bs_policy_source source;
};

#define BS_MOST_CHANGES 4 /* of one remedy */

struct bs_remedy {
    struct bs_change changes[BS_MOST_CHANGES];
    size_t n_changes;
};

struct bs_why_not {
    struct bs_decision decision;
    struct bs_bytes rule; /* the path, spelled as a rule: what is to be added */
    struct bs_remedy *remedies;
    size_t n_remedies; /* all of the smallest size; 0 when allowed, or when none is small enough */
};

/* A search over all changes of up to BS_MOST_CHANGES entries that leave a policy which loads.
 * Returns like bs_profile_check. */
BS_EXPORT int bs_profile_why_not(const struct bs_profile *profile, enum bs_op op, const char *path,
                                 size_t len, struct bs_why_not *why_not, struct bs_error *err);
BS_EXPORT void bs_why_not_clear(struct bs_why_not *why_not);

/* A decision as a line of JSON without its line feed: time (RFC 3339, UTC, milliseconds), profile,
 * profile_origin ("defined" or "synthesized"), op, path, allowed, matched_rule. What *out held is
 * not looked at; the caller clears it. 0 or BS_E_EXECUTION. */
BS_EXPORT int bs_audit_event(const struct bs_profile *profile, enum bs_op op,
                             const struct bs_decision *decision, struct timespec when,
                             struct bs_bytes *out, struct bs_error *err);

/* Files with more than one name below a root: what a rule denies under one name may be open under
 * the other, perhaps from outside. Links are not followed, folders of other file systems are
 * entered. */
struct bs_link {
    const char *path; /* relative to the root, NUL-terminated; bytes, not always UTF-8 */
    uint64_t names;   /* how many there are in all */
    uint64_t device;
    uint64_t inode; /* the same for all names of one file */
};

struct bs_links_report {
    uint64_t looked_at; /* names */
    uint64_t found;
    uint64_t unreadable; /* folders that could not be looked into, for rights or for their depth */
    bool stopped;        /* at `most`, or by `found` */
};

#define BS_LINKS_MOST_DEPTH 256 /* folders; as many descriptors are open at most */

/* Looks at `most` names at most. `found` is called for each such name and stops the walk by
 * returning false. 0, whatever was unreadable on the way; BS_E_IO when the root is no folder that
 * can be read; BS_E_EXECUTION when memory ran out. */
BS_EXPORT int bs_policy_links(const char *root, uint64_t most,
                              bool (*found)(void *ctx, const struct bs_link *link), void *ctx,
                              struct bs_links_report *report, struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
