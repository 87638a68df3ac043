/* The segments of rules as numbers, so that a segment of a path is compared with all of them by one
 * look-up.
 *
 * What a walk wants to know of a segment stands in the very slot where it is found: its first and
 * last eight bytes, which are all of most names, and where it leads. So most look-ups touch one
 * line of memory. */
#ifndef BS_POLICY_SYMBOLS_H
#define BS_POLICY_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "policy/word.h"

enum bs_symbol_kind {
    BS_SYMBOL_LITERAL,   /* the segment itself */
    BS_SYMBOL_EXTENSION, /* `*` and this, which begins with a dot and has no wildcards */
    BS_SYMBOL_WILD       /* any other segment with `*` or `?` */
};

/* Entries that a look-up passes at most. Natural names stay far below; names that were made to
 * collide are what this is against. */
#define BS_MOST_PROBES 128

/* Where a symbol is used, for whom adds it; zeros at first. */
struct bs_symbol_use {
    uint32_t owner;
    uint32_t child;
};

struct bs_symbol {
    size_t at; /* in texts */
    uint32_t len;
    struct bs_symbol_use use;
};

struct bs_symbol_slot {
    uint64_t first; /* eight bytes, or all of fewer with zeros behind */
    uint64_t last;  /* the same of the end; there is no NUL in a name */
    uint32_t id;    /* kind and length; 0: free */
    uint32_t symbol;
    struct bs_symbol_use use; /* a copy */
};

struct bs_symbols {
    struct bs_symbol *items;
    uint32_t n;
    uint32_t cap;
    char *texts;
    size_t texts_len;
    size_t texts_cap;
    struct bs_symbol_slot *slots;
    uint32_t n_slots; /* a power of two, at least twice n; 0 before the first */
    uint32_t shift;   /* of a hash: the slot */
    uint64_t *filter; /* first words of literal names, as the trie settles */
    uint32_t filter_shift;
};

/* A name that is looked for. */
struct bs_symbol_key {
    uint64_t first;
    uint64_t last;
    const char *text;
    size_t len;
};

enum bs_symbols_result { BS_SYMBOLS_OK, BS_SYMBOLS_COLLIDE, BS_SYMBOLS_NO_MEMORY };

/* The number of this segment, a new one if need be. */
enum bs_symbols_result bs_symbols_add(struct bs_symbols *symbols, enum bs_symbol_kind kind,
                                      const char *text, size_t len, uint32_t *symbol);
/* Copies the uses to where they are found, and fills the filter. False when memory ran out. */
bool bs_symbols_settle(struct bs_symbols *symbols);
void bs_symbols_clear(struct bs_symbols *symbols);
size_t bs_symbols_bytes(const struct bs_symbols *symbols);

/* The bytes from `at` on, at most eight, zeros behind. There are at least eight in the text. Only
 * at the end of a text are there fewer behind `at`, so that this can be predicted. */
static inline uint64_t bs_symbol_word(const char *text, size_t text_len, size_t at, size_t len) {
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

/* Of a part of a text, not empty. Without a branch on its length, which cannot be predicted. */
static inline struct bs_symbol_key bs_symbol_key(const char *text, size_t text_len, size_t at,
                                                 size_t len) {
    struct bs_symbol_key key = {0, 0, text + at, len};
    if (text_len < 8) {
        key.first = key.last = bs_word_of_few(text + at, len, 0);
        return key;
    }
    key.first = bs_symbol_word(text, text_len, at, len);
    key.last = bs_symbol_word(text, text_len, at + (len > 8 ? len - 8 : 0), len);
    return key;
}

/* Of bits. */
static inline uint64_t bs_symbols_filter_at(const struct bs_symbols *symbols, uint64_t first) {
    return first * UINT64_C(0x9E3779B97F4A7C15) >> symbols->filter_shift;
}

/* False: no literal name begins with these eight bytes, or is them when they are fewer. */
static inline bool bs_symbols_may_have(const struct bs_symbols *symbols, uint64_t first) {
    uint64_t bit = bs_symbols_filter_at(symbols, first);
    return (symbols->filter[bit / 64] >> bit % 64 & 1) != 0;
}

static inline uint32_t bs_symbol_id(enum bs_symbol_kind kind, size_t len) {
    return (uint32_t)len << 2 | kind;
}

static inline uint64_t bs_symbol_hash(enum bs_symbol_kind kind, const struct bs_symbol_key *key) {
    uint64_t hash = (key->first ^ kind) * UINT64_C(0x9E3779B97F4A7C15) +
                    (key->last ^ key->len) * UINT64_C(0xC2B2AE3D27D4EB4E);
    for (size_t at = 8; at + 8 < key->len; at += 8) {
        hash = (hash ^ bs_word_at(key->text + at)) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    return hash;
}

/* Only of names that share the first and the last word. */
static inline bool bs_symbol_is(const struct bs_symbols *symbols, const struct bs_symbol_slot *slot,
                                uint32_t id, const struct bs_symbol_key *key) {
    if (((slot->first ^ key->first) | (slot->last ^ key->last) | (slot->id ^ id)) != 0)
        return false;
    return key->len <= 16 || memcmp(symbols->texts + symbols->items[slot->symbol].at + 8,
                                    key->text + 8, key->len - 16) == 0;
}

/* NULL: there is none. */
static inline const struct bs_symbol_slot *bs_symbols_find(const struct bs_symbols *symbols,
                                                           enum bs_symbol_kind kind,
                                                           const struct bs_symbol_key *key) {
    if (symbols->n_slots == 0 || key->len > UINT32_MAX >> 2)
        return NULL;
    uint32_t id = bs_symbol_id(kind, key->len);
    uint32_t at = (uint32_t)(bs_symbol_hash(kind, key) >> symbols->shift);
    for (uint32_t probe = 0; probe < BS_MOST_PROBES; probe++) {
        const struct bs_symbol_slot *slot = &symbols->slots[(at + probe) & (symbols->n_slots - 1)];
        if (slot->id == 0)
            break;
        if (bs_symbol_is(symbols, slot, id, key))
            return slot;
    }
    return NULL;
}

#endif
