/* Profiles: a policy compiled for one of its profiles, and the questions that it answers.
 *
 *   1. Call bs_profile_compile. If it returns 0, *out is the profile, and the policy may be freed.
 *   2. Call bs_profile_check, any number of times. If it returns 0, the decision is filled. If it
 *      returns a negative code, the path is refused, which is neither a permission nor a denial,
 *      and the error says why.
 *   3. Open decision.path and not the path itself, because the decision is about decision.path.
 *   4. Call bs_decision_clear. This is only necessary for paths of more than BS_CHECK_PATH_BYTES.
 *   5. Call bs_profile_free.
 *
 * The list of an operation consists of the profile's rules and, after them, the global denies. The
 * last entry that matches decides. If it is an exception, the last match of the profile's own rules
 * decides.
 *
 * A profile is immutable: any number of threads may use it at once. It owns everything that its
 * functions return, for example the rule in a decision, until bs_profile_free.
 *
 * Rules come from the policy contract, conformance/contracts/policy/page.md; the ids there
 * (POLICY-...) name them. */
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

/* matched_rule of a path that no rule decides */
/* the list has a positive rule, but no rule matches */
#define BS_NO_MATCHING_RULE "<no matching rule>"
#define BS_NO_POSITIVE_RULE "[]" /* the list has no positive rule, so it allows no path */
#define BS_OUTSIDE_WORKSPACE "<outside workspace>"

enum bs_op { BS_OP_READ, BS_OP_MODIFY };

/* Flags of bs_profile_compile. */
#define BS_FOLD 1U /* names that a case-insensitive file system treats as equal are equal */

struct bs_profile;

/* If `name` is NULL, compile BS_UNRESTRICTED. That profile may read and modify `**`, unless the
 * policy defines it differently. Returns 0; BS_E_INVALID if the policy does not have the profile,
 * or if the rules exceed the budget of the matcher; BS_E_EXECUTION if memory ran out. */
BS_EXPORT int bs_profile_compile(const struct bs_policy *policy, const char *name, unsigned flags,
                                 struct bs_profile **out, struct bs_error *err);
BS_EXPORT void bs_profile_free(struct bs_profile *profile); /* NULL is ignored */

BS_EXPORT const char *bs_profile_name(const struct bs_profile *profile);

/* True if the profile was compiled with BS_FOLD. */
BS_EXPORT bool bs_profile_folds(const struct bs_profile *profile);

/* True if the profile is `unrestricted` and the policy does not define it. */
BS_EXPORT bool bs_profile_is_synthesized(const struct bs_profile *profile);

enum bs_entry_origin {
    BS_ENTRY_PROFILE,
    BS_ENTRY_DENY_READ,
    BS_ENTRY_DENY_MODIFY,
    /* an exception of denyModify: for the paths that it matches, the profile's own rules decide */
    BS_ENTRY_EXCEPTION
};

/* Return `profile`, `denyRead`, `denyModify` or `exception`, as a static string. */
BS_EXPORT const char *bs_entry_origin_name(enum bs_entry_origin origin);

/* One entry of the list that decides about an operation. */
struct bs_entry {
    /* normal form without the `!` of a negation, NUL-terminated; `./!x` means a file named `!x` */
    const char *rule;
    size_t rule_len; /* bytes */
    bool negated;    /* the entry denies what it matches; false for an exception */
    enum bs_entry_origin origin;
    enum bs_policy_source source;
    uint32_t line; /* from 1; 0 for an entry that is in no file */
    uint32_t column;
};

/* Return the entries in their order: the last one that matches decides. The result is NULL only if
 * *n is 0. */
BS_EXPORT const struct bs_entry *bs_profile_entries(const struct bs_profile *profile, enum bs_op op,
                                                    size_t *n);

#define BS_CHECK_PATH_BYTES 4096 /* longest path that is checked without allocating memory */

/* The most stack that one check uses, for every policy and path, in builds without sanitizers. Most
 * checks use less than 1 KiB. A check uses more if the profile folds, or if it has rules that only
 * the automaton can match. */
#define BS_CHECK_STACK_BYTES (48UL * 1024)

/* Need not be initialised, because a check writes every field. Do not copy the struct, because
 * `path` may point into `buffer`. */
struct bs_decision {
    bool allowed;
    const char *matched_rule; /* NUL-terminated, borrowed from the profile */
    size_t matched_rule_len;  /* bytes */
    /* the normal form; points into the caller's path, to `buffer` or to `owned` */
    const char *path;
    size_t path_len; /* bytes; a NUL need not follow */
    char *owned;
    char buffer[BS_CHECK_PATH_BYTES + 1];
};

/* Decide about the normal form (boxspec/path.h) of `path`, which has `len` bytes and is relative to
 * the root of the workspace. `path` must outlive the decision. Returns 0, BS_E_INVALID if the path
 * is refused, or BS_E_EXECUTION if memory ran out for a long path. After an error the decision need
 * not be cleared. Memory is allocated only for paths longer than BS_CHECK_PATH_BYTES. */
BS_EXPORT int bs_profile_check(const struct bs_profile *profile, enum bs_op op, const char *path,
                               size_t len, struct bs_decision *decision, struct bs_error *err);

/* Free what the decision owns. May be called any number of times after a check that returned 0. */
BS_EXPORT void bs_decision_clear(struct bs_decision *decision);

/* How bs_check_resolved treats the last component of a path if it is a link.
 *
 * bs_check_resolved decides twice: about the path as it is written, and about the place that the
 * kernel would reach by following links. Both must be allowed. Links in rules are followed too: if
 * the names before the first wildcard of a deny lead through links, the rule also denies the place
 * to which they lead. For example, if `link` is a link to `dir`, the deny `link/key` also denies
 * `dir/key`. The function does not search for links that match a wildcard of a rule.
 *
 * The answer is only true at the moment of the check. A program that can write below the root can
 * create a link before the file is opened (time of check to time of use), and a hard link cannot be
 * recognised by its path. If that matters, open the file first, by openat2 with RESOLVE_BENEATH or
 * component by component, or keep such programs away from the tree. */
enum bs_follow {
    BS_FOLLOW_FINAL, /* follow a link, for open, stat, exec */
    BS_FOLLOW_PARENT /* do not follow the last component, for unlink, rename, readlink */
};

#define BS_MOST_LINKS 40 /* links that are followed for one path; the kernel has the same limit */

struct bs_resolved {
    struct bs_decision decision; /* about the path as it is written, relative to the root */
    /* the place relative to the root, which is `.` itself; NULL if the place is outside */
    char *real;
    size_t real_len; /* bytes; a NUL follows */
    char *owned;
};

/* Decide about a path and the place that it leads to. `root` is an absolute path and may be a link
 * itself. `path` is relative to the root, or absolute. An absolute path below the root, or below
 * the root's real path, counts as the relative one; any other absolute path is denied as
 * BS_OUTSIDE_WORKSPACE. The place of a missing file is the path where the file would be created,
 * and the place of a dangling link is its target. Links of /proc, such as /proc/self/exe, count as
 * leading outside, because their text does not name their target.
 *
 * Returns 0; BS_E_INVALID if the path, or the name of its place, is refused; BS_E_IO if the place
 * of the path or of a deny cannot be determined (more than BS_MOST_LINKS links, no permission, a
 * name or a path that is too long for the system); or BS_E_EXECUTION if memory ran out. After an
 * error *resolved need not be cleared. May be called on any thread. */
BS_EXPORT int bs_check_resolved(const struct bs_profile *profile, const char *root, enum bs_op op,
                                const char *path, size_t len, enum bs_follow follow,
                                struct bs_resolved *resolved, struct bs_error *err);

/* As bs_check_resolved, but with the root as a descriptor, so no program can replace the root
 * during the check. The caller keeps `root_fd`. Every absolute path counts as outside, because a
 * descriptor has no name. */
BS_EXPORT int bs_check_resolved_at(const struct bs_profile *profile, int root_fd, enum bs_op op,
                                   const char *path, size_t len, enum bs_follow follow,
                                   struct bs_resolved *resolved, struct bs_error *err);

BS_EXPORT void bs_resolved_clear(struct bs_resolved *resolved); /* as bs_decision_clear */

/* One of the entries that bs_profile_entries returns. */
struct bs_explained {
    const struct bs_entry *entry;
    bool matched;  /* this entry matches the path */
    bool deciding; /* this entry decided; true for at most one entry */
};

struct bs_explanation {
    struct bs_decision decision; /* the same as bs_profile_check returns */
    struct bs_explained *entries;
    size_t n_entries;
};

/* Returns as bs_profile_check does. This takes longer than a check, because every entry is matched
 * separately. */
BS_EXPORT int bs_profile_explain(const struct bs_profile *profile, enum bs_op op, const char *path,
                                 size_t len, struct bs_explanation *explanation,
                                 struct bs_error *err);
BS_EXPORT void bs_explanation_clear(struct bs_explanation *explanation);

/* One change of the policy. A remedy is a set of changes: after all of them the path is allowed. */
enum bs_change_kind {
    BS_REMOVE_ENTRY,
    BS_ADD_RULE,     /* add `rule` after the profile's own rules for `op` */
    BS_ADD_EXCEPTION /* add `!rule` at the end of denyModify, in the file of `source` */
};

struct bs_change {
    enum bs_change_kind kind;
    const struct bs_entry *entry; /* the entry to remove, for BS_REMOVE_ENTRY; otherwise NULL */
    enum bs_op op;
    enum bs_policy_source source;
};

#define BS_MOST_CHANGES 4 /* largest number of changes in one remedy */

struct bs_remedy {
    struct bs_change changes[BS_MOST_CHANGES];
    size_t n_changes;
};

struct bs_why_not {
    struct bs_decision decision;
    struct bs_bytes rule; /* the path spelled as a rule, for changes that add a rule */
    struct bs_remedy *remedies;
    /* all remedies with the smallest number of changes; 0 if the path is allowed, or if each remedy
     * would be too large */
    size_t n_remedies;
};

/* Search for remedies of up to BS_MOST_CHANGES changes. A remedy is returned only if the policy
 * still loads after it. Returns as bs_profile_check does. */
BS_EXPORT int bs_profile_why_not(const struct bs_profile *profile, enum bs_op op, const char *path,
                                 size_t len, struct bs_why_not *why_not, struct bs_error *err);
BS_EXPORT void bs_why_not_clear(struct bs_why_not *why_not);

/* Write a decision as one line of JSON, without a line feed: time (RFC 3339, UTC, milliseconds),
 * profile, profile_origin ("defined" or "synthesized"), op, path, allowed, matched_rule. *out need
 * not be initialised; the caller clears it. Returns 0 or BS_E_EXECUTION. */
BS_EXPORT int bs_audit_event(const struct bs_profile *profile, enum bs_op op,
                             const struct bs_decision *decision, struct timespec when,
                             struct bs_bytes *out, struct bs_error *err);

/* A file that has several names (hard links), at least one of them below a root. A rule that denies
 * one name does not deny the others, which may lie outside of the root. The search does not follow
 * links, but it enters directories of other file systems. */
struct bs_link {
    const char *path; /* relative to the root, NUL-terminated; bytes, not always UTF-8 */
    uint64_t names;   /* number of names of the file, including those outside of the root */
    uint64_t device;
    uint64_t inode; /* equal for all names of one file */
};

struct bs_links_report {
    uint64_t looked_at; /* names that were examined */
    uint64_t found;
    uint64_t unreadable; /* directories that could not be read, or that are nested too deeply */
    bool stopped;        /* the search ended at `most`, or because `found` returned false */
};

/* deepest nesting of directories; each level needs an open descriptor */
#define BS_LINKS_MOST_DEPTH 256

/* Examine at most `most` names, and call `found` for each name of a file with several names. If
 * `found` returns false, the search ends. Returns 0 even if some directories were unreadable,
 * BS_E_IO if the root cannot be read as a directory, or BS_E_EXECUTION if memory ran out. */
BS_EXPORT int bs_policy_links(const char *root, uint64_t most,
                              bool (*found)(void *ctx, const struct bs_link *link), void *ctx,
                              struct bs_links_report *report, struct bs_error *err);

#ifdef __cplusplus
}
#endif
#endif
