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
    size_t mask;
};

#define BS_TABLE_INIT                                                                              \
    { 0, 0 }

/* Room for `most` keys. False when memory ran out. */
bool bs_table_init(struct bs_table *table, size_t most);
void bs_table_clear(struct bs_table *table);

/* A new seed; the address may be any of this process. */
uint64_t bs_table_seed(const void *somewhere);

/* A hash of parts: one step for each, the first with the seed as what is before it. Its lower half
 * is what the tables want. */
uint64_t bs_table_hash(uint64_t seed, uint64_t before, const char *part, size_t len);

/* The slot of the key `head` + `tail`, or NULL; hash is whatever the key was added with. */
struct bs_slot *bs_table_find(const struct bs_table *table, uint32_t hash, const char *head,
                              size_t head_len, const char *tail, size_t tail_len);

/* The key's slot, a new one with `first` and `last` set to number where there was none: *added
 * tells. */
struct bs_slot *bs_table_add(struct bs_table *table, uint32_t hash, const char *key, size_t len,
                             uint32_t number, bool *added);

#endif
