#include "policy/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/sys.h"

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

bool bs_table_init(struct bs_table *table, size_t most) {
    size_t size = 8;
    while (size < most * 2)
        size *= 2;
    table->slots = calloc(size, sizeof *table->slots);
    table->mask = size - 1;
    return table->slots != NULL;
}

void bs_table_clear(struct bs_table *table) {
    free(table->slots);
    *table = (struct bs_table)BS_TABLE_INIT;
}

/* Up to eight bytes as a number; which of several texts it was, len has to tell. */
static uint64_t few_bytes(const char *text, size_t len) {
    if (len >= 4) {
        uint32_t head = 0;
        uint32_t tail = 0;
        memcpy(&head, text, sizeof head);
        memcpy(&tail, text + len - sizeof tail, sizeof tail);
        return (uint64_t)head << 32 | tail;
    }
    if (len == 0)
        return 0;
    return (uint64_t)(unsigned char)text[0] << 16 | (uint64_t)(unsigned char)text[len / 2] << 8 |
           (unsigned char)text[len - 1];
}

uint64_t bs_table_hash(uint64_t seed, uint64_t before, const char *part, size_t len) {
    uint64_t hash = before ^ len;
    uint64_t word = 0;
    for (; len > sizeof word; len -= sizeof word, part += sizeof word) {
        memcpy(&word, part, sizeof word);
        hash = fold(hash ^ word, seed);
    }
    return fold(hash ^ few_bytes(part, len), seed ^ odd);
}

static bool is_key(const struct bs_slot *slot, const char *head, size_t head_len, const char *tail,
                   size_t tail_len) {
    return slot->len == head_len + tail_len && memcmp(slot->key, head, head_len) == 0 &&
           memcmp(slot->key + head_len, tail, tail_len) == 0;
}

struct bs_slot *bs_table_find(const struct bs_table *table, uint32_t hash, const char *head,
                              size_t head_len, const char *tail, size_t tail_len) {
    if (table->slots == NULL)
        return NULL;
    for (size_t at = hash & table->mask;; at = (at + 1) & table->mask) {
        struct bs_slot *slot = &table->slots[at];
        if (slot->key == NULL)
            return NULL;
        if (slot->hash == hash && is_key(slot, head, head_len, tail, tail_len))
            return slot;
    }
}

struct bs_slot *bs_table_add(struct bs_table *table, uint32_t hash, const char *key, size_t len,
                             uint32_t number, bool *added) {
    size_t at = hash & table->mask;
    for (; table->slots[at].key != NULL; at = (at + 1) & table->mask) {
        struct bs_slot *slot = &table->slots[at];
        if (slot->hash == hash && is_key(slot, key, len, "", 0)) {
            *added = false;
            return slot;
        }
    }
    *added = true;
    table->slots[at] = (struct bs_slot){key, (uint32_t)len, hash, number, number};
    return &table->slots[at];
}
