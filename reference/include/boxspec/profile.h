/* Profiles: a policy compiled for one of its profiles, and the questions that it answers.
 *
 *   1. bs_profile_compile. 0: *out is the profile; the policy may be freed.
 *   2. bs_profile_check, any number of times. 0: the decision is filled. Negative: the path is
 *      refused, which is neither a permission nor a denial, and the error says why.
 *   3. Open decision.path only: the decision is about this path.
 *   4. bs_decision_clear. It matters only after paths of more than BS_CHECK_PATH_BYTES.
 *   5. bs_profile_free.
 *
 * The list of an operation consists of the profile's rules and, after them, the global denies. The
 * last entry that matches decides. If it is an exception, the last match of the profile's own rules
 * decides.
 *
 * A profile is immutable: any number of threads may use it at once. It owns everything that its
 * functions return, for example the rule in a decision, until bs_profile_free.
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

/* The default profile. */
#define BS_UNRESTRICTED "unrestricted"

/* Values of matched_rule if no rule decided. */
#define BS_NO_MATCHING_RULE "<no matching rule>" /* the list has a positive rule */
#define BS_NO_POSITIVE_RULE "[]"                 /* the list has no positive rule */
#define BS_OUTSIDE_WORKSPACE "<outside workspace>"

enum bs_op { BS_OP_READ, BS_OP_MODIFY };

/* Flags of bs_profile_compile. */
#define BS_FOLD 1U /* names that are equal on a case-insensitive file system are equal */

struct bs_profile;

/* `name` NULL means BS_UNRESTRICTED, which is read and modify `**` unless the policy defines it.
 * Returns 0, BS_E_INVALID for a profile that the policy does not have and for rules beyond the
 * budget of the matcher, or BS_E_EXECUTION if memory ran out. */
BS_EXPORT int bs_profile_compile(const struct bs_policy *policy, const char *name, unsigned flags,
                                 struct bs_profile **out, struct bs_error *err);
BS_EXPORT void bs_profile_free(struct bs_profile *profile); /* or NULL */

BS_EXPORT const char *bs_profile_name(const struct bs_profile *profile);

/* True if it was compiled with BS_FOLD. */
BS_EXPORT bool bs_profile_folds(const struct bs_profile *profile);

/* True for `unrestricted` of a policy that does not define it. */
BS_EXPORT bool bs_profile_is_synthesized(const struct bs_profile *profile);

enum bs_entry_origin {
    BS_ENTRY_PROFILE,
    BS_ENTRY_DENY_READ,
    BS_ENTRY_DENY_MODIFY,
    BS_ENTRY_EXCEPTION /* of denyModify: the profile's own rules decide there */
};

/* One entry of a resolved list. */
struct bs_entry {
    const char *rule; /* NUL-terminated normal form without `!`; `./!x` is the file `!x` */
    size_t rule_len;  /* bytes */
    bool negated;     /* a match denies; false for an exception */
    enum bs_entry_origin origin;
    enum bs_policy_source source;
    uint32_t line; /* from 1; 0 for an entry of no file */
    uint32_t column;
};

/* The resolved list in its order. NULL only when *n is 0. */
BS_EXPORT const struct bs_entry *bs_profile_entries(const struct bs_profile *profile, enum bs_op op,
                                                    size_t *n);

#define BS_CHECK_PATH_BYTES 4096 /* of a path; a check of a longer one may allocate */

/* The most stack that one check uses, for every policy and path, in builds without sanitizers. Most
 * checks use less than 1 KiB; profiles that fold, or that have rules which only the automaton can
 * match, use more. */
#define BS_CHECK_STACK_BYTES (48UL * 1024)

/* Need not be initialised: a check writes every field. It must not be copied, because `path` may
 * point into `buffer`. */
struct bs_decision {
    bool allowed;
    const char *matched_rule; /* NUL-terminated, borrowed from the profile */
    size_t matched_rule_len;  /* bytes */
    const char *path;         /* the normal form: part of the caller's path, buffer or owned */
    size_t path_len;          /* bytes; no NUL need follow */
    char *owned;
    char buffer[BS_CHECK_PATH_BYTES + 1];
};

/* `path` has `len` bytes and is relative to the root of the workspace; its normal form is checked
 * (boxspec/path.h). It must outlive the decision. Returns 0, BS_E_INVALID if the path is refused,
 * or BS_E_EXECUTION if memory ran out for a long path. After an error the decision needs no clear.
 * Allocates only for paths longer than BS_CHECK_PATH_BYTES. */
BS_EXPORT int bs_profile_check(const struct bs_profile *profile, enum bs_op op, const char *path,
                               size_t len, struct bs_decision *decision, struct bs_error *err);

/* May be called any number of times after a check that returned 0. */
BS_EXPORT void bs_decision_clear(struct bs_decision *decision);

/* The place of a path, links followed.
 *
 * bs_check_resolved decides twice: about the path as it is written, and about the place where the
 * kernel would end up, links followed. Both must be allowed. Links count on the side of the rules
 * as well: a deny whose names before the first wildcard are links, or lead through links, denies
 * the place that they lead to. With `link` a link to `dir`, the deny `link/key` denies `dir/key`.
 * Links that match a wildcard of a rule are not searched.
 *
 * The answer holds at the moment of the check. A program that can write below the root can put a
 * link in place before the file is opened (time of check to time of use), and no path shows a hard
 * link. If that matters, open the file first, by openat2 with RESOLVE_BENEATH or component by
 * component, or keep writers away from the tree.
 */
enum bs_follow {
    BS_FOLLOW_FINAL, /* for open, stat, exec */
    BS_FOLLOW_PARENT /* keep the last component: for unlink, rename, readlink */
};

#define BS_MOST_LINKS 40 /* followed for one path; the kernel's number */

struct bs_resolved {
    struct bs_decision decision; /* about the path as it is written, relative to the root */
    char *real;                  /* its place relative to the root, `.`; NULL: outside */
    size_t real_len;             /* bytes; a NUL follows */
    char *owned;
};

/* `root` is an absolute path and may be a link itself. `path` is relative to it, or absolute. An
 * absolute path below the root, by the given or by the real path of the root, counts as the
 * relative one; any other is denied as BS_OUTSIDE_WORKSPACE. The place of a missing file is the
 * place where it would be made, that of a dangling link is its target. Links of /proc count as
 * leading outside, because their text does not name their target.
 *
 * Returns 0; BS_E_INVALID if the path, or the name of its place, is refused; BS_E_IO if the place
 * of the path or of a deny cannot be determined (more than BS_MOST_LINKS links, no permission); or
 * BS_E_EXECUTION if memory ran out. After an error *resolved needs no clear. Any thread. */
BS_EXPORT int bs_check_resolved(const struct bs_profile *profile, const char *root, enum bs_op op,
                                const char *path, size_t len, enum bs_follow follow,
                                struct bs_resolved *resolved, struct bs_error *err);

/* As bs_check_resolved, below an open directory: no program can replace it during the check. The
 * caller keeps `root_fd`. A descriptor has no name, so every absolute path is outside. */
BS_EXPORT int bs_check_resolved_at(const struct bs_profile *profile, int root_fd, enum bs_op op,
                                   const char *path, size_t len, enum bs_follow follow,
                                   struct bs_resolved *resolved, struct bs_error *err);

BS_EXPORT void bs_resolved_clear(struct bs_resolved *resolved); /* as bs_decision_clear */

/* An entry and its part in a decision. */
struct bs_explained {
    const struct bs_entry *entry;
    bool matched;
    bool deciding; /* matched_rule names this entry; true for at most one */
};

struct bs_explanation {
    struct bs_decision decision; /* as of bs_profile_check */
    struct bs_explained *entries;
    size_t n_entries;
};

/* Returns as bs_profile_check does. Matches every entry alone, so it takes longer than a check. */
BS_EXPORT int bs_profile_explain(const struct bs_profile *profile, enum bs_op op, const char *path,
                                 size_t len, struct bs_explanation *explanation,
                                 struct bs_error *err);
BS_EXPORT void bs_explanation_clear(struct bs_explanation *explanation);

/* One change of the policy on the way to allow the path. */
enum bs_change_kind {
    BS_REMOVE_ENTRY,
    BS_ADD_RULE,     /* `rule` after the profile's own rules for `op` */
    BS_ADD_EXCEPTION /* `!rule` at the end of denyModify, in the file of `source` */
};

struct bs_change {
    enum bs_change_kind kind;
    const struct bs_entry *entry; /* of BS_REMOVE_ENTRY, otherwise NULL */
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
    struct bs_bytes rule; /* the path, spelled as a rule, for the changes that add one */
    struct bs_remedy *remedies;
    size_t n_remedies; /* all of the smallest size; 0 if allowed, or if each is too large */
};

/* Searches the changes of up to BS_MOST_CHANGES entries after which the policy still loads. Returns
 * as bs_profile_check does. */
BS_EXPORT int bs_profile_why_not(const struct bs_profile *profile, enum bs_op op, const char *path,
                                 size_t len, struct bs_why_not *why_not, struct bs_error *err);
BS_EXPORT void bs_why_not_clear(struct bs_why_not *why_not);

/* Writes a decision as a line of JSON without a line feed: time (RFC 3339, UTC, milliseconds),
 * profile, profile_origin ("defined" or "synthesized"), op, path, allowed, matched_rule. *out need
 * not be initialised; the caller clears it. Returns 0 or BS_E_EXECUTION. */
BS_EXPORT int bs_audit_event(const struct bs_profile *profile, enum bs_op op,
                             const struct bs_decision *decision, struct timespec when,
                             struct bs_bytes *out, struct bs_error *err);

/* A file with more than one name below a root. A rule that denies one name does not deny the other
 * names, which may lie outside of the root. The search follows no links and enters directories of
 * other file systems. */
struct bs_link {
    const char *path; /* relative to the root, NUL-terminated; bytes, not always UTF-8 */
    uint64_t names;   /* of the file, also outside of the root */
    uint64_t device;
    uint64_t inode; /* the same for all names of one file */
};

struct bs_links_report {
    uint64_t looked_at; /* names that were examined */
    uint64_t found;
    uint64_t unreadable; /* directories that could not be read, or that are too deep */
    bool stopped;        /* at `most`, or by `found` */
};

#define BS_LINKS_MOST_DEPTH 256 /* directories, each with an open descriptor */

/* Examines at most `most` names and calls `found` for each name of such a file; `found` stops the
 * search by returning false. Returns 0 even if directories were unreadable, BS_E_IO if the root
 * cannot be read as a directory, or BS_E_EXECUTION if memory ran out. */
BS_EXPORT int bs_policy_links(const char *root, uint64_t most,
                              bool (*found)(void *ctx, const struct bs_link *link), void *ctx,
                              struct bs_links_report *report, struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
