/* Asks a compiled profile about paths of a workspace, which are relative to its root. */
#ifndef BS_BACKEND_PLAN_PROFILE_H
#define BS_BACKEND_PLAN_PROFILE_H

#include <boxspec/profile.h>

/* A name that stands for a file that does not exist yet. No rule names it, so only wildcards match
 * it. */
#define BS_NEW_NAME "boxspec-7c1f0e55-nobody-knows"

/* True if the profile allows the operation. False also if the policy refuses the path or memory ran
 * out. */
bool bs_profile_allows(const struct bs_profile *profile, enum bs_op op, const char *path);

/* As bs_profile_allows, for a new file in `dir`; "" is the root. */
bool bs_profile_allows_new(const struct bs_profile *profile, enum bs_op op, const char *dir);

/* As bs_profile_allows_new, but true if memory ran out. A caller that reports the files open to
 * programs needs this: without memory its report must not become shorter. */
bool bs_profile_may_allow_new(const struct bs_profile *profile, enum bs_op op, const char *dir);

/* True if the profile denies any path: by a rule, or because no rule allows all paths. False if
 * `profile` is NULL. */
bool bs_profile_denies(const struct bs_profile *profile, enum bs_op op);

/* Set *entry to the rule that denies this path; to NULL if the path is allowed, if no rule matches
 * it, or if the policy refuses it. Returns false if memory ran out. */
bool bs_profile_denying(const struct bs_profile *profile, enum bs_op op, const char *path,
                        const struct bs_entry **entry);

#endif
