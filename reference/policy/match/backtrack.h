/* Matches one glob with one path. After a mismatch the function goes back to the last star, or to
 * the last `**`. It builds no data.
 *
 * It need not go back further. The part before the last star was matched as early as possible, and
 * a later match of this part would only leave less of the path for the rest. */
#ifndef BS_POLICY_MATCH_BACKTRACK_H
#define BS_POLICY_MATCH_BACKTRACK_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/match/matcher.h"

/* Limits on the bytes between two stars of a segment, and on the segments in a row after a `**`. In
 * the worst case a match compares so many bytes and segments at each place of the path, so the
 * product of both limits the steps for each byte of the path. Usually a byte takes few steps. */
#define BS_BACKTRACK_MOST_BYTES 64
#define BS_BACKTRACK_MOST_SEGMENTS 32

/* True if the pattern keeps these limits, and each `**` is a whole segment. bs_backtrack_matches
 * may be called only for such patterns. */
bool bs_backtrack_fits(const struct bs_pattern *pattern);

/* True if the pattern matches the path, which is in normal form. The root is `.` or a path of no
 * bytes. */
bool bs_backtrack_matches(const struct bs_pattern *pattern, const char *path, size_t len);

#endif
