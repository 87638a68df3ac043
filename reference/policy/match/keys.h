/* Keys: a literal part of a rule that each path it matches has at a known place.
 *
 *   top     the names that the rule begins with: the path begins with them
 *   name    the name after a leading `**`: one of the path's names
 *   head    the first bytes of the name after a leading `**`: one of the path's names begins so
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

/* The condition under which the rule matches a path that has the key. */
enum bs_key_then {
    BS_KEY_LAST,   /* the path ends with the key */
    BS_KEY_INSIDE, /* none: the path is the key, or lies below it */
    BS_KEY_GLOB    /* the rest of the path matches the rest of the rule */
};

struct bs_key {
    enum bs_key_kind kind;
    enum bs_key_then then;
    const char *text; /* in the pattern */
    size_t len;
    struct bs_pattern glob; /* the rest of the rule: BS_KEY_GLOB */
};

/* Returns where the part of the path begins that the glob must match. The key is at [start, end).
 */
static inline size_t bs_key_rest(enum bs_key_kind kind, size_t start, size_t end) {
    return kind == BS_KEY_ENDING ? 0 : kind == BS_KEY_HEAD ? start : end + 1;
}

#define BS_KEYS_OF_A_RULE 2

/* Writes the possible keys of a rule other than `.` and `**`, and returns their number. If there
 * are two, both need a glob. A rule that begins and ends with wildcards, or that bs_backtrack_fits
 * rejects, has no key. */
size_t bs_keys_of(const struct bs_pattern *pattern, struct bs_key keys[BS_KEYS_OF_A_RULE]);

#endif
