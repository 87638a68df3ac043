/* Which entries match, each asked alone. */
#ifndef BS_POLICY_PROFILE_EXPLAIN_H
#define BS_POLICY_PROFILE_EXPLAIN_H

#include "policy/profile/check.h"

/* matched[i] for each of the n entries of the list; the path is in its normal form. False when
 * memory ran out. */
bool bs_note_matches(const struct bs_list *list, bool fold, struct bs_path_view path,
                     bool *matched);

/* One glob, byte for byte. False when memory ran out. */
bool bs_matches_alone(const struct bs_pattern *pattern, struct bs_path_view path, bool *matched);

#endif
