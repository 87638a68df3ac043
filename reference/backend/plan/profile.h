/* Questions to a compiled profile about the paths of a workspace, which are relative to its root.
 */
#ifndef BS_BACKEND_PLAN_PROFILE_H
#define BS_BACKEND_PLAN_PROFILE_H

#include <boxspec/profile.h>

/* Stands for any file that does not exist yet: no rule names it. */
#define BS_NEW_NAME "boxspec-7c1f0e55-nobody-knows"

/* False also if the policy refuses the path or memory ran out. */
bool bs_profile_allows(const struct bs_profile *profile, enum bs_op op, const char *path);

/* The same for a new file in `dir`, which is "" for the root. */
bool bs_profile_allows_new(const struct bs_profile *profile, enum bs_op op, const char *dir);

/* True if the profile, which may be NULL, denies any path: by a rule, or because no rule allows
 * everything. */
bool bs_profile_denies(const struct bs_profile *profile, enum bs_op op);

/* Returns the rule that denies this path. NULL: the path is allowed, or no rule matches it, or the
 * policy refuses it. */
const struct bs_entry *bs_profile_denying(const struct bs_profile *profile, enum bs_op op,
                                          const char *path);

#endif
