/* One glob and one path, matched by backtracking to the last star, or to the last `**`. It builds
 * no data.
 *
 * It never goes back further: the part before the last star matches as early as possible, and a
 * later match would only leave less of the path for the rest. */
#ifndef BS_POLICY_MATCH_BACKTRACK_H
#define BS_POLICY_MATCH_BACKTRACK_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/match/matcher.h"

/* Bounds of the bytes between two stars of a segment, and of the segments in a row after a `**`.
 * The match tries these at one place after the other, so the product bounds the steps for each byte
 * of the path; nearly all bytes take few steps. */
#define BS_BACKTRACK_MOST_BYTES 64
#define BS_BACKTRACK_MOST_SEGMENTS 32

/* True if the pattern keeps to these bounds, and each `**` is a segment. Only then
 * bs_backtrack_matches may be called. */
bool bs_backtrack_fits(const struct bs_pattern *pattern);

/* The path is normalised; the root is `.` or no bytes. */
bool bs_backtrack_matches(const struct bs_pattern *pattern, const char *path, size_t len);

#endif
