#include "policy/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "policy/word.h"

__extension__ typedef unsigned __int128 wide;

static const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);

/* Both halves of a product: each bit of the result depends on each bit of the factors. */
static uint64_t fold(uint64_t a, uint64_t b) {
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Nobody who writes a policy knows the moment and the addresses of the process that will read it.
 */
uint64_t bs_table_seed(const void *somewhere) {
    return fold(bs_now_ns() ^ odd, (uint64_t)(uintptr_t)somewhere | 1) | 1;
}

/* So few that the look-ups of a whole load find them in the nearest cache. */
enum { SEEN_PER_SLOT = 4 };

bool bs_table_init(struct bs_table *table, size_t most) {
    size_t size = 16;
    while (size < most + most / 2)
        size *= 2;
    size_t seen = size * SEEN_PER_SLOT / 8;
    table->slots = calloc(1, size * sizeof *table->slots + seen);
    if (table->slots == NULL)
        return false;
    table->seen = (uint64_t *)(void *)(table->slots + size);
    table->mask = size - 1;
    return true;
}

static uint64_t *seen_word(const struct bs_table *table, uint32_t hash, uint64_t *bit) {
    size_t number = hash & (table->mask * SEEN_PER_SLOT + SEEN_PER_SLOT - 1);
    *bit = UINT64_C(1) << number % 64;
    return &table->seen[number / 64];
}

void bs_table_clear(struct bs_table *table) {
    free(table->slots);
    *table = (struct bs_table)BS_TABLE_INIT;
}

uint64_t bs_table_step(uint64_t seed, uint64_t state, uint64_t word) {
    return fold(state ^ word, seed);
}

uint64_t bs_table_finish(uint64_t seed, uint64_t state, uint64_t rest, size_t len) {
    return fold(state ^ rest ^ (len * odd), seed ^ odd);
}

uint64_t bs_table_hash(uint64_t seed, const char *text, size_t len) {
    uint64_t state = seed;
    size_t at = 0;
    for (; len - at >= BS_WORD_BYTES; at += BS_WORD_BYTES)
        state = fold(state ^ bs_word_at(text + at), seed);
    size_t left = len - at;
    uint64_t rest = 0;
    if (at > 0 && left > 0)
        rest = bs_word_at(text + len - BS_WORD_BYTES) >> 8 * (BS_WORD_BYTES - left);
    else if (left > 0)
        rest = bs_word_of_few(text, left, 0);
    return bs_table_finish(seed, state, rest, len);
}

static bool is_key(const struct bs_slot *slot, uint32_t hash, const char *key, size_t len) {
    return slot->hash == hash && slot->len == len && memcmp(slot->key, key, len) == 0;
}

struct bs_slot *bs_table_find(const struct bs_table *table, uint32_t hash, const char *key,
                              size_t len) {
    if (table->slots == NULL)
        return NULL;
    uint64_t bit = 0;
    uint64_t seen = *seen_word(table, hash, &bit);
    if ((seen & bit) == 0)
        return NULL;
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
    uint64_t *word = seen_word(table, hash, &bit);
    *word |= bit;
    table->slots[at] = (struct bs_slot){key, (uint32_t)len, hash, number, number};
    return &table->slots[at];
}
