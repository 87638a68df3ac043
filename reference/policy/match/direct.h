/* One glob and one path, and nothing is built for it: for whoever asks so seldom that an automaton
 * or a table would never pay. The states are those of the automaton, made only as far as the path
 * leads to them, and most globs that do not match are done with after two. */
#ifndef BS_POLICY_MATCH_DIRECT_H
#define BS_POLICY_MATCH_DIRECT_H

#include <stddef.h>

#include "policy/match/matcher.h"

enum bs_direct {
    BS_DIRECT_NO,
    BS_DIRECT_YES,
    BS_DIRECT_TOO_LONG /* the path leads behind what is looked at, 64 states */
};

/* The path is normalised (boxspec/path.h); the root is `.`. Adds the steps taken to *steps: one for
 * each state at each byte. */
enum bs_direct bs_direct_matches(const struct bs_pattern *pattern, const char *path, size_t len,
                                 size_t *steps);

#endif
