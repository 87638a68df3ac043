/* Denies whose path leads through links. Such a rule also denies the place to which the links
 * lead. */
#ifndef BS_POLICY_PROFILE_LINKED_H
#define BS_POLICY_PROFILE_LINKED_H

#include "policy/profile/check.h"

/* Decide about a path, taking links in rules into account; *outcome becomes the decision. For each
 * deny, the names before the first wildcard are followed through links below the root, and the deny
 * also counts for the place to which they lead. Links that match a wildcard are not searched. A
 * deny that leads out of the root, or into a loop of links, denies no further place.
 *
 * `path` is the real place of a requested path, in normal form. Returns 0; BS_E_IO if the place of
 * a deny cannot be examined, for example for lack of permission; BS_E_EXECUTION if memory ran
 * out. */
int bs_outcome_with_links(const struct bs_profile *profile, int root_fd, enum bs_op op,
                          const struct bs_path_view *path, const struct bs_outcome **outcome,
                          struct bs_error *err);

#endif
