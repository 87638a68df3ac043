/* What a rule can be found by: a literal part of it that each path it matches has at a known place.
 *
 *   top     the names that the rule begins with: the path begins with them
 *   name    the name behind a leading `**`: one of the path's names
 *   head    the bytes that the name behind a leading `**` begins with: one of the path's names does
 *   ending  the bytes that the rule ends with: the path ends with them
 *
 * Names are whole segments of the path; heads and endings are as long as a word at most.
 */
#ifndef BS_POLICY_MATCH_KEYS_H
#define BS_POLICY_MATCH_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/matcher.h"

enum bs_key_kind { BS_KEY_TOP, BS_KEY_NAME, BS_KEY_HEAD, BS_KEY_ENDING, BS_KEY_KINDS };

#define BS_KEY_MOST_BYTES 8 /* of a head or an ending */

/* What it takes for the rule to match a path that has the key. */
enum bs_key_then {
    BS_KEY_LAST,   /* the path ends with the key */
    BS_KEY_INSIDE, /* nothing: the path is the key, or lies below it */
    BS_KEY_GLOB    /* the rest of the path matches the rest of the rule */
};

struct bs_key {
    enum bs_key_kind kind;
    enum bs_key_then then;
    const char *text; /* in the pattern */
    size_t len;
    struct bs_pattern glob; /* the rest of the rule: BS_KEY_GLOB */
};

/* Of a path that has the key at [start, end): where the rest begins that the glob is about. */
static inline size_t bs_key_rest(enum bs_key_kind kind, size_t start, size_t end) {
    return kind == BS_KEY_ENDING ? 0 : kind == BS_KEY_HEAD ? start : end + 1;
}

#define BS_KEYS_OF_A_RULE 2

/* The keys that a rule can have, which is neither `.` nor `**` alone; returns how many. Where there
 * are two, both are followed by a glob. A rule has none when it begins and ends with wildcards, or
 * when bs_backtrack_fits says no. */
size_t bs_keys_of(const struct bs_pattern *pattern, struct bs_key keys[BS_KEYS_OF_A_RULE]);

#endif
