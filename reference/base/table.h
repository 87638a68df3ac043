/* Keys to numbers. The hash is seeded for each load, so that nobody can write a policy whose keys
 * all meet in one slot. The size is given when it is made: the loader always knows how many keys
 * can come. */
#ifndef BS_BASE_TABLE_H
#define BS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bs_slot {
    const char *key; /* borrowed; NULL: free */
    uint32_t len;
    uint32_t hash;
    uint32_t first;
    uint32_t last;
};

struct bs_table {
    struct bs_slot *slots;
    uint64_t
        *seen; /* a few bits for each slot: most keys that are not there are told without one */
    size_t mask;
};

#define BS_TABLE_INIT                                                                              \
    { 0, 0, 0 }

/* Room for `most` keys; none is found in one without room. False when memory ran out; the table is
 * then one without room. */
bool bs_table_init(struct bs_table *table, size_t most);
void bs_table_clear(struct bs_table *table);

/* A new seed; the address may be any of this process. */
uint64_t bs_table_seed(const void *somewhere);

/* The hash of a text, in steps where the hashes of its prefixes are wanted too: the state begins
 * with the seed, takes each whole word of the text, and is finished by the bytes behind the last
 * whole word (zeros above them) and the length of all. */
uint64_t bs_table_hash(uint64_t seed, const char *text, size_t len);

#define BS_TABLE_ODD UINT64_C(0x9E3779B97F4A7C15)

__extension__ typedef unsigned __int128 bs_wide;

/* Both halves of a product: each bit of the result depends on each bit of the factors. */
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

/* So few that the look-ups of a whole load find them in the nearest cache. */
#define BS_TABLE_SEEN_PER_SLOT 4

static inline uint64_t *bs_table_seen(const struct bs_table *table, uint32_t hash, uint64_t *bit) {
    size_t number = hash & (table->mask * BS_TABLE_SEEN_PER_SLOT + BS_TABLE_SEEN_PER_SLOT - 1);
    *bit = UINT64_C(1) << number % 64;
    return &table->seen[number / 64];
}

/* The slot of a key, or NULL; hash is whatever the key was added with. The table has been made. */
struct bs_slot *bs_table_look(const struct bs_table *table, uint32_t hash, const char *key,
                              size_t len);

/* The same of any table. Most keys are not there, and then nothing more is called. */
static inline struct bs_slot *bs_table_find(const struct bs_table *table, uint32_t hash,
                                            const char *key, size_t len) {
    if (table->slots == NULL)
        return NULL;
    uint64_t bit = 0;
    const uint64_t *seen = bs_table_seen(table, hash, &bit);
    return (*seen & bit) != 0 ? bs_table_look(table, hash, key, len) : NULL;
}

/* The key's slot, a new one with `first` and `last` set to number where there was none: *added
 * tells. */
struct bs_slot *bs_table_add(struct bs_table *table, uint32_t hash, const char *key, size_t len,
                             uint32_t number, bool *added);

#endif
