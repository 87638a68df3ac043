/* Matches many rules at once by hashing. A check looks up the parts of the path that can be keys
 * (policy/match/keys.h); each key leads to its rules. So the time of a check depends on the path
 * and on how many rules share its keys, not on the number of all rules.
 *
 * A rule has one key. If two keys are possible, the rule gets the one that fewer other rules can
 * have. Often the key alone decides (an exact path, a subtree, a name anywhere, an ending).
 * Otherwise the rest of the rule is matched by backtracking (policy/match/backtrack.h), but only if
 * the path contains every byte of that rest.
 *
 * The index is needed for lists of 20 or more rules. The following numbers are the time of a check
 * with and without the index, relative to RE2::Set with the same rules (mix of fixtures/policies,
 * medians of 60 alternating rounds, goal 0.35): 1 rule 0.18 and 0.16, 20 rules 0.31 and 0.38, 100
 * rules 0.35 and 4.9, 1,000 rules 0.10 and 4.2. With 10,000 rules the number is below 0.01; without
 * the index these rules exceed the budget of the automaton. The index does not replace the tables:
 * without tables, 100 rules take 0.44. */
#ifndef BS_POLICY_MATCH_INDEX_H
#define BS_POLICY_MATCH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "policy/match/keys.h"
#include "policy/match/matcher.h"

/* A rule that matches only if the rest of the path matches its glob. */
struct bs_candidate {
    uint64_t bytes; /* bs_bytes_of the glob, without its wildcards and separators */
    struct bs_pattern glob;
    int32_t rule;
};

/* The rules that have the same key. */
struct bs_bucket {
    int32_t last;   /* the highest rule that matches a path which ends with the key */
    int32_t inside; /* the highest rule that matches every path which continues below the key */
    /* index of the first candidate; the other candidates follow, sorted from the highest rule to
     * the lowest */
    uint32_t first;
    uint32_t n;
};

/* For each byte, the lengths of the keys that begin or end with this byte. Bit n stands for length
 * n, bit 31 for 31 or more. With these, most parts of a path are excluded without computing a
 * hash. */
struct bs_key_lengths {
    uint32_t tops; /* keys of the kind top: lengths of their first name */
    uint32_t names;
    uint16_t heads;
    uint16_t endings;
};

struct bs_index {
    struct bs_table keys[BS_KEY_KINDS]; /* bs_slot.first is the index of the bucket */
    struct bs_bucket *buckets;          /* buckets[0] has the rules without a key */
    struct bs_candidate *candidates;
    char *texts; /* copies of the texts of the rules */
    size_t texts_len;
    uint32_t n_buckets;
    uint32_t n_candidates;
    uint64_t seed; /* the seed of all hashes */
    /* the largest number of a rule that matches only the root, of one that matches every path, and
     * of any rule in the index; or BS_NO_RULE */
    int32_t root;
    int32_t all;
    int32_t most;
    struct bs_key_lengths by_byte[256];
};

/* Add the rules with `left` false to the index. For each of them that has no key, set `left` to
 * true: such a rule is left for another part of the matcher. With `keyless_too`, rules without a
 * key are added too if bs_backtrack_fits is true for them; each check then tries all of these.
 * Returns false if memory ran out; the index is cleared then. */
bool bs_index_build(struct bs_index *index, const struct bs_pattern *patterns, size_t n,
                    bool keyless_too, bool *left);
void bs_index_clear(struct bs_index *index);
size_t bs_index_bytes(const struct bs_index *index);

/* Return the set of bytes that a text contains. Bit n stands for all bytes whose lower six bits are
 * n. */
static inline uint64_t bs_bytes_of(const char *text, size_t len) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < len; i++)
        bytes |= UINT64_C(1) << ((unsigned char)text[i] & 63);
    return bytes;
}

/* Return the highest rule that matches the path, or `best` if that is higher. The root is a path of
 * no bytes. */
int32_t bs_index_highest(const struct bs_index *index, const struct bs_path_view *path,
                         int32_t best);

#endif
