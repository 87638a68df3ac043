/* The glob of one segment: `*` and `?`, no `**`. */
#ifndef BS_POLICY_MATCH_WILD_H
#define BS_POLICY_MATCH_WILD_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it can be looked for here. Not if a piece between two stars has a `?` inside and more
 * than 64 bytes: to find such a one in linear time needs an automaton of its own. */
bool bs_wild_is_simple(const char *glob, size_t len);

/* Whether a simple glob matches the segment, in time linear in both together. Both are valid
 * UTF-8. */
bool bs_wild_matches(const char *glob, size_t glob_len, const char *text, size_t len);

#endif
