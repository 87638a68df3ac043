#include "policy/symbols.h"

#include <stdlib.h>

enum { FEWEST_SLOTS = 64 };

/* The slot of this segment, or the free one where it belongs; NULL when it takes too long. */
static struct bs_symbol_slot *slot_of(const struct bs_symbols *symbols, enum bs_symbol_kind kind,
                                      const struct bs_symbol_key *key) {
    uint32_t id = bs_symbol_id(kind, key->len);
    uint32_t at = (uint32_t)(bs_symbol_hash(kind, key) >> symbols->shift);
    for (uint32_t probe = 0; probe < BS_MOST_PROBES; probe++) {
        struct bs_symbol_slot *slot = &symbols->slots[(at + probe) & (symbols->n_slots - 1)];
        if (slot->id == 0 || bs_symbol_is(symbols, slot, id, key))
            return slot;
    }
    return NULL;
}

static enum bs_symbols_result grow_slots(struct bs_symbols *symbols) {
    struct bs_symbols grown = *symbols;
    grown.n_slots = symbols->n_slots == 0 ? FEWEST_SLOTS : symbols->n_slots * 2;
    grown.shift = 64 - (uint32_t)__builtin_ctz(grown.n_slots);
    grown.slots = calloc(grown.n_slots, sizeof *grown.slots);
    if (grown.slots == NULL)
        return BS_SYMBOLS_NO_MEMORY;
    for (uint32_t i = 0; i < symbols->n_slots; i++) {
        const struct bs_symbol_slot *moved = &symbols->slots[i];
        if (moved->id == 0)
            continue;
        const struct bs_symbol *item = &symbols->items[moved->symbol];
        struct bs_symbol_key key = {moved->first, moved->last, symbols->texts + item->at,
                                    item->len};
        struct bs_symbol_slot *slot = slot_of(&grown, (enum bs_symbol_kind)(moved->id & 3), &key);
        if (slot == NULL) {
            free(grown.slots);
            return BS_SYMBOLS_COLLIDE;
        }
        *slot = *moved;
    }
    free(symbols->slots);
    symbols->slots = grown.slots;
    symbols->n_slots = grown.n_slots;
    symbols->shift = grown.shift;
    return BS_SYMBOLS_OK;
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
    struct bs_symbol_key key = bs_symbol_key(text, len, 0, len);
    struct bs_symbol_slot *slot = slot_of(symbols, kind, &key);
    if (slot == NULL)
        return BS_SYMBOLS_COLLIDE;
    if (slot->id == 0) {
        if (!reserve(symbols, len))
            return BS_SYMBOLS_NO_MEMORY;
        memcpy(symbols->texts + symbols->texts_len, text, len);
        symbols->items[symbols->n] =
            (struct bs_symbol){.at = symbols->texts_len, .len = (uint32_t)len};
        symbols->texts_len += len;
        slot->first = key.first;
        slot->last = key.last;
        slot->id = bs_symbol_id(kind, len);
        slot->symbol = symbols->n++;
    }
    *symbol = slot->symbol;
    return BS_SYMBOLS_OK;
}

enum { FILTER_BITS_PER_SLOT = 8, FEWEST_FILTER_BITS = 64 * FILTER_BITS_PER_SLOT };

static size_t filter_bits(const struct bs_symbols *symbols) {
    size_t bits = (size_t)symbols->n_slots * FILTER_BITS_PER_SLOT;
    return bits < FEWEST_FILTER_BITS ? FEWEST_FILTER_BITS : bits;
}

bool bs_symbols_settle(struct bs_symbols *symbols) {
    symbols->filter = calloc(filter_bits(symbols) / 64, sizeof *symbols->filter);
    if (symbols->filter == NULL)
        return false;
    symbols->filter_shift = 64 - (uint32_t)__builtin_ctzll(filter_bits(symbols));
    for (uint32_t i = 0; i < symbols->n_slots; i++) {
        struct bs_symbol_slot *slot = &symbols->slots[i];
        if (slot->id == 0)
            continue;
        slot->use = symbols->items[slot->symbol].use;
        if ((slot->id & 3) != BS_SYMBOL_LITERAL)
            continue;
        uint64_t bit = bs_symbols_filter_at(symbols, slot->first);
        symbols->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    return true;
}

void bs_symbols_clear(struct bs_symbols *symbols) {
    free(symbols->items);
    free(symbols->texts);
    free(symbols->slots);
    free(symbols->filter);
    *symbols = (struct bs_symbols){0};
}

size_t bs_symbols_bytes(const struct bs_symbols *symbols) {
    return symbols->cap * sizeof *symbols->items + symbols->texts_cap +
           symbols->n_slots * sizeof *symbols->slots +
           (symbols->filter != NULL ? filter_bits(symbols) / 8 : 0);
}
