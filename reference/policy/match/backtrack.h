/* One glob and one path by backtracking: to the last star, or to the last `**`. Nothing is built.
 *
 * It never needs to go back further. What stands before the last star has matched as early as it
 * can, and a later match would only leave less of the path for the rest. */
#ifndef BS_POLICY_MATCH_BACKTRACK_H
#define BS_POLICY_MATCH_BACKTRACK_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/match/matcher.h"

/* How much may stand between two stars of a segment, and behind a `**`. It is tried at one place
 * after the other, so the product bounds the steps for each byte of the path; nearly all take few.
 */
#define BS_BACKTRACK_MOST_BYTES 64
#define BS_BACKTRACK_MOST_SEGMENTS 32

/* Whether the pattern keeps to these bounds, and each `**` of it is a segment. Other patterns are
 * none for the next function. */
bool bs_backtrack_fits(const struct bs_pattern *pattern);

/* The path is normalised; the root is `.` or no bytes. */
bool bs_backtrack_matches(const struct bs_pattern *pattern, const char *path, size_t len);

#endif
