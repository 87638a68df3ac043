#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "base/word.h"

/* Make the seed from the time and an address, because the author of a policy cannot know them. */
uint64_t bs_table_seed(const void *somewhere) {
    return bs_table_mix(bs_now_ns() ^ BS_TABLE_ODD, (uint64_t)(uintptr_t)somewhere | 1) | 1;
}

bool bs_table_init(struct bs_table *table, size_t most) {
    table->slots = NULL;
    if (most == 0)
        return true;
    size_t size = 16;
    while (size < most + most / 2)
        size *= 2;
    size_t seen = size * BS_TABLE_SEEN_PER_SLOT / 8;
    table->slots = calloc(1, size * sizeof *table->slots + seen);
    if (table->slots == NULL)
        return false;
    table->seen = (uint64_t *)(void *)(table->slots + size);
    table->mask = size - 1;
    return true;
}

void bs_table_clear(struct bs_table *table) {
    free(table->slots);
    table->slots = NULL;
}

uint64_t bs_table_hash(uint64_t seed, const char *text, size_t len) {
    uint64_t state = seed;
    size_t at = 0;
    for (; len - at >= BS_WORD_BYTES; at += BS_WORD_BYTES)
        state = bs_table_step(seed, state, bs_word_at(text + at));
    return bs_table_finish(seed, state, bs_word_rest(text, len), len);
}

static bool is_key(const struct bs_slot *slot, uint32_t hash, const char *key, size_t len) {
    return slot->hash == hash && slot->len == len && memcmp(slot->key, key, len) == 0;
}

struct bs_slot *bs_table_look(const struct bs_table *table, uint32_t hash, const char *key,
                              size_t len) {
    for (size_t at = hash & table->mask;; at = (at + 1) & table->mask) {
        struct bs_slot *slot = &table->slots[at];
        if (slot->key == NULL)
            return NULL;
        if (is_key(slot, hash, key, len))
            return slot;
    }
}

struct bs_slot *bs_table_add(struct bs_table *table, uint32_t hash, const char *key, size_t len,
                             uint32_t number, bool *added) {
    size_t at = hash & table->mask;
    for (; table->slots[at].key != NULL; at = (at + 1) & table->mask) {
        if (is_key(&table->slots[at], hash, key, len)) {
            *added = false;
            return &table->slots[at];
        }
    }
    *added = true;
    uint64_t bit = 0;
    uint64_t *word = bs_table_seen(table, hash, &bit);
    *word |= bit;
    table->slots[at] = (struct bs_slot){key, (uint32_t)len, hash, number, number};
    return &table->slots[at];
}
