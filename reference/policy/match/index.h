/* Many rules at once, by hashing: a check looks up the parts of the path that may be keys
 * (policy/match/keys.h), and each key has its rules. The cost of a check depends on the path and on
 * how many rules share the keys of the path; the number of rules does not count.
 *
 * A rule has one key: of two possible ones, the one that fewer other rules have. Often the key
 * decides (a path, a subtree, a name anywhere, an ending). Otherwise backtracking matches the rest
 * of the rule (policy/match/backtrack.h), but only if the path has every byte of that rest.
 *
 * Lists of 20 and more rules need the index. Time of a check relative to RE2::Set with the same
 * rules (mix of fixtures/policies, medians of 60 alternating rounds, goal 0.35; with and without
 * the index): 1 rule 0.18 and 0.16, 20 rules 0.31 and 0.38, 100 rules 0.35 and 4.9, 1,000 rules
 * 0.10 and 4.2. 10,000 rules are below 0.01 with it; without it they exceed the budget of the
 * automaton. The index does not replace the tables: without them, 100 rules take 0.44.
 */
#ifndef BS_POLICY_MATCH_INDEX_H
#define BS_POLICY_MATCH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "policy/match/keys.h"
#include "policy/match/matcher.h"

/* A rule whose key does not decide. */
struct bs_candidate {
    uint64_t bytes; /* bs_bytes_of the glob, without its wildcards and separators */
    struct bs_pattern glob;
    int32_t rule;
};

/* The rules of one key. */
struct bs_bucket {
    int32_t last;   /* the highest that matches a path which ends with the key */
    int32_t inside; /* the highest that matches every path that continues after the key */
    uint32_t first; /* of the candidates, the highest rule first */
    uint32_t n;
};

/* Lengths of the keys that begin or end with a byte: bit n is length n, bit 31 every greater length
 * as well. With these, most parts of a path need no hash. */
struct bs_key_lengths {
    uint32_t tops; /* of their first names */
    uint32_t names;
    uint16_t heads;
    uint16_t endings;
};

struct bs_index {
    struct bs_table keys[BS_KEY_KINDS]; /* bs_slot.first: the bucket */
    struct bs_bucket *buckets;          /* the first one is for the rules without a key */
    struct bs_candidate *candidates;
    char *texts; /* copies of the rules */
    size_t texts_len;
    uint32_t n_buckets;
    uint32_t n_candidates;
    uint64_t seed; /* of all hashes */
    int32_t root;  /* the highest rule that matches only the root */
    int32_t all;   /* the highest rule that matches every path */
    int32_t most;  /* the highest rule of the index, or BS_NO_RULE */
    struct bs_key_lengths by_byte[256];
};

/* Adds the rules whose `left` is false, and sets `left` of those that have no key. With
 * `keyless_too` it adds these rules as well, if bs_backtrack_fits, and each check tries all of
 * them. False if memory ran out; the index is cleared then. */
bool bs_index_build(struct bs_index *index, const struct bs_pattern *patterns, size_t n,
                    bool keyless_too, bool *left);
void bs_index_clear(struct bs_index *index);
size_t bs_index_bytes(const struct bs_index *index);

/* Returns the set of bytes of a text, by their lower six bits. */
static inline uint64_t bs_bytes_of(const char *text, size_t len) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < len; i++)
        bytes |= UINT64_C(1) << ((unsigned char)text[i] & 63);
    return bytes;
}

/* Returns the highest rule that matches the path, but at least `best`. The root is the path without
 * bytes. */
int32_t bs_index_highest(const struct bs_index *index, const struct bs_path_view *path,
                         int32_t best);

#endif
