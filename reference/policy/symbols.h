/* The segments of rules as numbers, so that a segment of a path is compared with all of them by one
 * look-up. */
#ifndef BS_POLICY_SYMBOLS_H
#define BS_POLICY_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bs_symbol_kind {
    BS_SYMBOL_LITERAL,   /* the segment itself */
    BS_SYMBOL_EXTENSION, /* `*` and this, which begins with a dot and has no wildcards */
    BS_SYMBOL_WILD       /* any other segment with `*` or `?` */
};

#define BS_NO_SYMBOL UINT32_MAX
/* Entries that a look-up passes at most. Natural names stay far below; names that were made to
 * collide are what this is against. */
#define BS_MOST_PROBES 128

struct bs_symbol {
    size_t at; /* in texts */
    uint32_t len;
    enum bs_symbol_kind kind;
    uint32_t owner; /* for whom adds it: where it is used; 0 at first */
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
};

struct bs_symbol_slot {
    uint32_t hash;
    uint32_t symbol; /* plus one; 0: free */
};

enum bs_symbols_result { BS_SYMBOLS_OK, BS_SYMBOLS_COLLIDE, BS_SYMBOLS_NO_MEMORY };

/* The number of this segment, a new one if need be. */
enum bs_symbols_result bs_symbols_add(struct bs_symbols *symbols, enum bs_symbol_kind kind,
                                      const char *text, size_t len, uint32_t *symbol);
uint32_t bs_symbols_find(const struct bs_symbols *symbols, enum bs_symbol_kind kind,
                         const char *text, size_t len);
void bs_symbols_clear(struct bs_symbols *symbols);
size_t bs_symbols_bytes(const struct bs_symbols *symbols);

#endif
