/* Denies that lead through links: their rule is about the place they lead to as well. */
#ifndef BS_POLICY_PROFILE_LINKED_H
#define BS_POLICY_PROFILE_LINKED_H

#include "policy/profile/check.h"

/* Sets *outcome to the decision about a path in which each deny also counts for the place that it
 * leads to. A deny leads to the place of its whole names before the first wildcard, all links
 * below the root followed; links that only a wildcard names are not searched. A deny that leads out
 * of the root, or into a loop of links, denies no further place.
 *
 * `path` is where a request really lies, in normal form. 0; BS_E_IO if the place of a deny cannot
 * be seen, for example for lack of permission; BS_E_EXECUTION if memory ran out. */
int bs_outcome_with_links(const struct bs_profile *profile, int root_fd, enum bs_op op,
                          const struct bs_path_view *path, const struct bs_outcome **outcome,
                          struct bs_error *err);

#endif
