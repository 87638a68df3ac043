/* A hash table from strings to numbers. Each table has a random seed, so that no author of a policy
 * can choose keys that all collide. The size is fixed, because callers know the number of keys. */
#ifndef BS_BASE_TABLE_H
#define BS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bs_slot {
    const char *key; /* not copied; NULL marks a free slot */
    uint32_t len;
    uint32_t hash;
    uint32_t first;
    uint32_t last;
};

struct bs_table {
    struct bs_slot *slots;
    /* a Bloom filter: most absent keys are recognised without reading a slot */
    uint64_t *seen;
    size_t mask;
};

#define BS_TABLE_INIT                                                                              \
    { 0, 0, 0 }

/* Make room for `most` keys. Returns false if memory ran out. The table has no slots then, as with
 * `most` 0. */
bool bs_table_init(struct bs_table *table, size_t most);
void bs_table_clear(struct bs_table *table);

/* Return a new seed. `somewhere` is any address of this process. */
uint64_t bs_table_seed(const void *somewhere);

/* Return the hash of a text. A caller that also needs the hashes of the text's prefixes computes it
 * in steps: the state starts as the seed, bs_table_step adds each whole word of the text, and
 * bs_table_finish adds the bytes after the last whole word (with zeros above them) and the
 * length. */
uint64_t bs_table_hash(uint64_t seed, const char *text, size_t len);

#define BS_TABLE_ODD UINT64_C(0x9E3779B97F4A7C15)

__extension__ typedef unsigned __int128 bs_wide;

/* Mix two numbers: multiply them, and combine the halves of the product, so that each bit of the
 * result depends on each bit of both. */
static inline uint64_t bs_table_mix(uint64_t a, uint64_t b) {
    bs_wide product = (bs_wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t bs_table_step(uint64_t seed, uint64_t state, uint64_t word) {
    return bs_table_mix(state ^ word, seed);
}

static inline uint64_t bs_table_finish(uint64_t seed, uint64_t state, uint64_t rest, size_t len) {
    return bs_table_mix(state ^ rest ^ (len * BS_TABLE_ODD), seed ^ BS_TABLE_ODD);
}

/* Bits of the filter for each slot. The filter is small, so that it fits in the first-level
 * cache. */
#define BS_TABLE_SEEN_PER_SLOT 4

static inline uint64_t *bs_table_seen(const struct bs_table *table, uint32_t hash, uint64_t *bit) {
    size_t number = hash & (table->mask * BS_TABLE_SEEN_PER_SLOT + BS_TABLE_SEEN_PER_SLOT - 1);
    *bit = UINT64_C(1) << number % 64;
    return &table->seen[number / 64];
}

/* Return the slot of a key, or NULL. `hash` must be the hash that the key was added with. The table
 * must have slots. */
struct bs_slot *bs_table_look(const struct bs_table *table, uint32_t hash, const char *key,
                              size_t len);

/* As bs_table_look, also for a table without slots. For most absent keys the filter avoids the
 * call. */
static inline struct bs_slot *bs_table_find(const struct bs_table *table, uint32_t hash,
                                            const char *key, size_t len) {
    if (table->slots == NULL)
        return NULL;
    uint64_t bit = 0;
    const uint64_t *seen = bs_table_seen(table, hash, &bit);
    return (*seen & bit) != 0 ? bs_table_look(table, hash, key, len) : NULL;
}

/* Return the slot of a key, which is added if it is new. Then *added is true and both numbers of
 * the slot, `first` and `last`, are `number`. */
struct bs_slot *bs_table_add(struct bs_table *table, uint32_t hash, const char *key, size_t len,
                             uint32_t number, bool *added);

#endif
