#include "policy/symbols.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

/* Most names have fewer than 17 bytes: two loads that overlap. */
static uint32_t hash_of(enum bs_symbol_kind kind, const char *text, size_t len) {
    uint64_t hash = (uint64_t)len << 8 | kind;
    uint64_t word = 0;
    if (len >= 8) {
        for (size_t at = 0; at + 8 < len; at += 8) {
            memcpy(&word, text + at, 8);
            hash = mix(hash, word);
        }
        memcpy(&word, text + len - 8, 8);
    } else if (len >= 4) {
        uint32_t first = 0;
        uint32_t last = 0;
        memcpy(&first, text, 4);
        memcpy(&last, text + len - 4, 4);
        word = (uint64_t)first << 32 | last;
    } else if (len > 0) {
        word = (uint64_t)(unsigned char)text[0] << 16 |
               (uint64_t)(unsigned char)text[len / 2] << 8 | (unsigned char)text[len - 1];
    }
    return (uint32_t)mix(mix(hash, word), len);
}

/* The slot of this segment, or the free one where it belongs; n_slots when it takes too long. */
static uint32_t slot_of(const struct bs_symbols *symbols, uint32_t hash, enum bs_symbol_kind kind,
                        const char *text, size_t len) {
    uint32_t mask = symbols->n_slots - 1;
    for (uint32_t probe = 0; probe < BS_MOST_PROBES; probe++) {
        const struct bs_symbol_slot *slot = &symbols->slots[(hash + probe) & mask];
        if (slot->symbol == 0)
            return (hash + probe) & mask;
        if (slot->hash != hash)
            continue;
        const struct bs_symbol *symbol = &symbols->items[slot->symbol - 1];
        if (symbol->kind == kind && symbol->len == len &&
            memcmp(symbols->texts + symbol->at, text, len) == 0)
            return (hash + probe) & mask;
    }
    return symbols->n_slots;
}

uint32_t bs_symbols_find(const struct bs_symbols *symbols, enum bs_symbol_kind kind,
                         const char *text, size_t len) {
    if (symbols->n_slots == 0)
        return BS_NO_SYMBOL;
    uint32_t slot = slot_of(symbols, hash_of(kind, text, len), kind, text, len);
    if (slot == symbols->n_slots)
        return BS_NO_SYMBOL;
    return symbols->slots[slot].symbol - 1; /* a free slot: BS_NO_SYMBOL */
}

static enum bs_symbols_result grow_slots(struct bs_symbols *symbols) {
    uint32_t n = symbols->n_slots == 0 ? 64 : symbols->n_slots * 2;
    struct bs_symbol_slot *slots = calloc(n, sizeof *slots);
    if (slots == NULL)
        return BS_SYMBOLS_NO_MEMORY;
    enum bs_symbols_result result = BS_SYMBOLS_OK;
    for (uint32_t i = 0; i < symbols->n_slots; i++) {
        struct bs_symbol_slot moved = symbols->slots[i];
        if (moved.symbol == 0)
            continue;
        uint32_t probe = 0;
        while (slots[(moved.hash + probe) & (n - 1)].symbol != 0)
            probe++;
        if (probe >= BS_MOST_PROBES)
            result = BS_SYMBOLS_COLLIDE;
        slots[(moved.hash + probe) & (n - 1)] = moved;
    }
    free(symbols->slots);
    symbols->slots = slots;
    symbols->n_slots = n;
    return result;
}

static bool reserve(struct bs_symbols *symbols, size_t len) {
    if (symbols->n == symbols->cap) {
        uint32_t cap = symbols->cap == 0 ? 32 : symbols->cap * 2;
        struct bs_symbol *grown = realloc(symbols->items, cap * sizeof *grown);
        if (grown == NULL)
            return false;
        symbols->items = grown;
        symbols->cap = cap;
    }
    if (symbols->texts_len + len > symbols->texts_cap) {
        size_t cap = (symbols->texts_len + len) * 2;
        char *grown = realloc(symbols->texts, cap);
        if (grown == NULL)
            return false;
        symbols->texts = grown;
        symbols->texts_cap = cap;
    }
    return true;
}

enum bs_symbols_result bs_symbols_add(struct bs_symbols *symbols, enum bs_symbol_kind kind,
                                      const char *text, size_t len, uint32_t *symbol) {
    if (symbols->n_slots < 2 * (symbols->n + 1)) {
        enum bs_symbols_result result = grow_slots(symbols);
        if (result != BS_SYMBOLS_OK)
            return result;
    }
    uint32_t hash = hash_of(kind, text, len);
    uint32_t slot = slot_of(symbols, hash, kind, text, len);
    if (slot == symbols->n_slots)
        return BS_SYMBOLS_COLLIDE;
    if (symbols->slots[slot].symbol == 0) {
        if (!reserve(symbols, len))
            return BS_SYMBOLS_NO_MEMORY;
        symbols->items[symbols->n] =
            (struct bs_symbol){.at = symbols->texts_len, .len = (uint32_t)len, .kind = kind};
        memcpy(symbols->texts + symbols->texts_len, text, len);
        symbols->texts_len += len;
        symbols->slots[slot] = (struct bs_symbol_slot){hash, ++symbols->n};
    }
    *symbol = symbols->slots[slot].symbol - 1;
    return BS_SYMBOLS_OK;
}

void bs_symbols_clear(struct bs_symbols *symbols) {
    free(symbols->items);
    free(symbols->texts);
    free(symbols->slots);
    *symbols = (struct bs_symbols){0};
}

size_t bs_symbols_bytes(const struct bs_symbols *symbols) {
    return symbols->cap * sizeof *symbols->items + symbols->texts_cap +
           symbols->n_slots * sizeof *symbols->slots;
}
