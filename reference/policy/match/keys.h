/* Keys. A key is a literal part of a rule that occurs, at a known place, in every path that the
 * rule matches. There are four kinds:
 *
 *   top     the names that the rule begins with; the path begins with them
 *   name    the name after a leading `**`; it is one of the names in the path
 *   head    the first bytes of the name after a leading `**`; one name of the path begins with them
 *   ending  the bytes that the rule ends with; the path ends with them
 *
 * A name is a whole segment of the path. Heads and endings have at most BS_KEY_MOST_BYTES bytes. */
#ifndef BS_POLICY_MATCH_KEYS_H
#define BS_POLICY_MATCH_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/matcher.h"

enum bs_key_kind { BS_KEY_TOP, BS_KEY_NAME, BS_KEY_HEAD, BS_KEY_ENDING, BS_KEY_KINDS };

#define BS_KEY_MOST_BYTES 8 /* longest head or ending, so that it fits into one word */

/* The condition under which the rule matches a path that contains its key. */
enum bs_key_then {
    BS_KEY_LAST,   /* the path must end with the key */
    BS_KEY_INSIDE, /* no condition: the path is the key or lies below it */
    BS_KEY_GLOB    /* the rest of the path must match the rest of the rule */
};

struct bs_key {
    enum bs_key_kind kind;
    enum bs_key_then then;
    const char *text; /* points into the pattern */
    size_t len;
    struct bs_pattern glob; /* for BS_KEY_GLOB: the rest of the rule */
};

/* Return the position in the path at which the rest of the rule must begin to match. The key is at
 * [start, end). */
static inline size_t bs_key_rest(enum bs_key_kind kind, size_t start, size_t end) {
    return kind == BS_KEY_ENDING ? 0 : kind == BS_KEY_HEAD ? start : end + 1;
}

#define BS_KEYS_OF_A_RULE 2

/* Write the possible keys of a rule, which must not be `.` or `**`, and return their number. If
 * there are two, both have the condition BS_KEY_GLOB. A rule has no key if it begins and ends with
 * wildcards, or if bs_backtrack_fits is false for it. */
size_t bs_keys_of(const struct bs_pattern *pattern, struct bs_key keys[BS_KEYS_OF_A_RULE]);

#endif
