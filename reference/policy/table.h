/* Keys to numbers. The hash is seeded for each load, so that nobody can write a policy whose keys
 * all meet in one slot. The size is given when it is made: the loader always knows how many keys
 * can come. */
#ifndef BS_POLICY_TABLE_H
#define BS_POLICY_TABLE_H

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

/* Room for `most` keys. False when memory ran out. */
bool bs_table_init(struct bs_table *table, size_t most);
void bs_table_clear(struct bs_table *table);

/* A new seed; the address may be any of this process. */
uint64_t bs_table_seed(const void *somewhere);

/* The hash of a text, in steps where the hashes of its prefixes are wanted too: the state begins
 * with the seed, takes each whole word of the text, and is finished by the bytes behind the last
 * whole word (zeros above them) and the length of all. */
uint64_t bs_table_hash(uint64_t seed, const char *text, size_t len);
uint64_t bs_table_step(uint64_t seed, uint64_t state, uint64_t word);
uint64_t bs_table_finish(uint64_t seed, uint64_t state, uint64_t rest, size_t len);

/* The slot of a key, or NULL; hash is whatever the key was added with. */
struct bs_slot *bs_table_find(const struct bs_table *table, uint32_t hash, const char *key,
                              size_t len);

/* The key's slot, a new one with `first` and `last` set to number where there was none: *added
 * tells. */
struct bs_slot *bs_table_add(struct bs_table *table, uint32_t hash, const char *key, size_t len,
                             uint32_t number, bool *added);

#endif
