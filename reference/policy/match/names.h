/* The children of all nodes by their segments, in one table: from a node and a segment to a node.
 *
 * Found by hashing both at once. An entry has some bits of the hash, so that what is not there is
 * known without looking further, and what is there is told by its node: the first and last eight
 * bytes are all of most names.
 */
#ifndef BS_POLICY_MATCH_NAMES_H
#define BS_POLICY_MATCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/word.h"
#include "policy/match/trie_node.h"

/* Entries that a look-up passes at most. Natural names stay far below; names that were made to
 * collide are what this is against. */
#define BS_NAMES_MOST_PROBES 128

#define BS_NAMES_TAG_BITS 12
#define BS_NAMES_TAGS ((UINT32_C(1) << BS_NAMES_TAG_BITS) - 1)
#define BS_NAMES_MOST_NODES (UINT32_C(1) << (32 - BS_NAMES_TAG_BITS))

struct bs_names {
    uint32_t *heads;  /* by hash: a node, and bits of the hash below; 0: free */
    uint32_t n_heads; /* a power of two */
    uint32_t shift;   /* of a hash: the head */
    uint32_t n;
    char *texts; /* of names that two words do not hold, and of wildcards */
    size_t texts_len;
    size_t texts_cap;
    uint32_t *text_at; /* by node */
    uint32_t cap_nodes;
    uint64_t *filter; /* first words of the names under gaps */
    uint32_t filter_shift;
};

/* A segment that is looked for. */
struct bs_name_key {
    uint64_t first; /* eight bytes, or all of fewer with zeros behind; there is no NUL in a name */
    uint64_t last;  /* the same of the end */
    uint64_t hash;
    const char *text;
    size_t len;
};

enum bs_names_result { BS_NAMES_OK, BS_NAMES_COLLIDE, BS_NAMES_NO_MEMORY };

/* First of all. False when memory ran out. */
bool bs_names_init(struct bs_names *names);
/* Files a node that has `from` and no name yet. */
enum bs_names_result bs_names_add(struct bs_names *names, struct bs_trie_node *nodes, uint32_t node,
                                  const struct bs_name_key *key, bool wild);
/* Fills the filter. False when memory ran out. */
bool bs_names_settle(struct bs_names *names, const struct bs_trie_node *nodes, uint32_t n_nodes);
void bs_names_clear(struct bs_names *names);
size_t bs_names_bytes(const struct bs_names *names);

/* The bytes from `at` on, at most eight, zeros behind. There are at least eight in the text. Only
 * at the end of a text are there fewer behind `at`, so that this can be predicted. */
static inline uint64_t bs_name_word(const char *text, size_t text_len, size_t at, size_t len) {
    static const uint64_t keep[] = {0,
                                    0xFF,
                                    0xFFFF,
                                    0xFFFFFF,
                                    0xFFFFFFFF,
                                    0xFFFFFFFFFF,
                                    0xFFFFFFFFFFFF,
                                    0xFFFFFFFFFFFFFF,
                                    0xFFFFFFFFFFFFFFFF};
    uint64_t word = 0;
    if (at + 8 <= text_len)
        word = bs_word_at(text + at);
    else
        word = bs_word_at(text + text_len - 8) >> 8 * (at + 8 - text_len);
    return word & keep[len < 8 ? len : 8];
}

static inline uint64_t bs_name_hash(const struct bs_name_key *key) {
    uint64_t hash = key->first * UINT64_C(0x9E3779B97F4A7C15) +
                    (key->last ^ key->len) * UINT64_C(0xC2B2AE3D27D4EB4E);
    for (size_t at = 8; at + 8 < key->len; at += 8) {
        hash = (hash ^ bs_word_at(key->text + at)) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Of a part of a text, not empty. Without a branch on its length, which cannot be predicted. */
static inline void bs_name_read(struct bs_name_key *key, const char *text, size_t text_len,
                                size_t at, size_t len) {
    key->text = text + at;
    key->len = len;
    if (text_len < 8) {
        key->first = key->last = bs_word_of_few(text + at, len, 0);
    } else {
        key->first = bs_name_word(text, text_len, at, len);
        key->last = bs_name_word(text, text_len, at + (len > 8 ? len - 8 : 0), len);
    }
    key->hash = bs_name_hash(key);
}

/* Of bits. */
static inline uint64_t bs_names_filter_at(const struct bs_names *names, uint64_t first) {
    return first * UINT64_C(0x9E3779B97F4A7C15) >> names->filter_shift;
}

/* False: no name under a gap begins with these eight bytes, or is them when they are fewer. */
static inline bool bs_names_may_have(const struct bs_names *names, uint64_t first) {
    uint64_t bit = bs_names_filter_at(names, first);
    return (names->filter[bit / 64] >> bit % 64 & 1) != 0;
}

/* One that does not fit into a node is no node's. */
static inline uint64_t bs_name_id(size_t len, bool wild) { return (uint64_t)len << 1 | wild; }

static inline uint64_t bs_names_mix(uint64_t hash, uint32_t from) {
    hash += from * UINT64_C(0xD6E8FEB86659FD93);
    return (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
}

static inline uint32_t bs_names_tag(uint64_t mixed) {
    return (uint32_t)(mixed >> 20) & BS_NAMES_TAGS;
}

static inline bool bs_name_is(const struct bs_names *names, const struct bs_trie_node *nodes,
                              uint32_t at, uint32_t from, uint64_t id,
                              const struct bs_name_key *key) {
    const struct bs_trie_node *node = &nodes[at];
    if (((node->first ^ key->first) | (node->last ^ key->last) | (node->id ^ id) |
         (node->from ^ from)) != 0)
        return false;
    return key->len <= 16 ||
           memcmp(names->texts + names->text_at[at] + 8, key->text + 8, key->len - 16) == 0;
}

static inline uint32_t bs_names_hash_bit(const struct bs_name_key *key) {
    return UINT32_C(1) << (key->hash >> 59);
}

/* The child of `from` by this segment; 0: there is none. */
static inline uint32_t bs_names_find(const struct bs_names *names, const struct bs_trie_node *nodes,
                                     uint32_t from, const struct bs_name_key *key, bool wild) {
    uint64_t mixed = bs_names_mix(key->hash, from);
    uint32_t tag = bs_names_tag(mixed);
    uint32_t at = (uint32_t)(mixed >> names->shift);
    for (uint32_t probe = 0; probe < BS_NAMES_MOST_PROBES; probe++) {
        uint32_t head = names->heads[(at + probe) & (names->n_heads - 1)];
        if (head == 0)
            return 0;
        if (((head ^ tag) & BS_NAMES_TAGS) == 0 &&
            bs_name_is(names, nodes, head >> BS_NAMES_TAG_BITS, from, bs_name_id(key->len, wild),
                       key))
            return head >> BS_NAMES_TAG_BITS;
    }
    return 0;
}

#endif
