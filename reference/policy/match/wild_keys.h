/* What wildcards are found by: for those who file them, and those who look for them. */
#ifndef BS_POLICY_MATCH_WILD_KEYS_H
#define BS_POLICY_MATCH_WILD_KEYS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/word.h"
#include "policy/match/wilds.h"

enum {
    BS_WILD_LONG = 16,         /* pieces of more bytes are found by so many, of 8 to 15 by 8 */
    BS_WILD_BY_WORDS = 0xFF,   /* lengths that a word holds, as bits */
    BS_WILD_MOST_ANYWHERE = 4, /* bytes that are looked for of a piece that may be anywhere */
    BS_WILD_FEWER_BITS = 4     /* words of the filter than slots, as powers of two */
};

enum bs_wild_side { BS_WILD_START, BS_WILD_END, BS_WILD_ANYWHERE, BS_WILD_NOWHERE };

/* The eight bytes before the last eight, or as many as there are, zeros before them. */
static inline uint64_t bs_wild_inner(const char *text, size_t len) {
    return len >= BS_WILD_LONG ? bs_word_at(text + len - BS_WILD_LONG)
                               : bs_word_of_few(text, len - 8, 0) << 8 * (BS_WILD_LONG - len);
}

static inline uint64_t bs_wild_long(uint64_t outer, uint64_t inner) {
    return outer * UINT64_C(0xC2B2AE3D27D4EB4E) ^ inner;
}

/* Of one to eight bytes, the same that stand in a word. */
static inline uint64_t bs_wild_start(uint64_t first, size_t len) {
    size_t above = 64 - 8 * len;
    return first << above >> above;
}

static inline uint64_t bs_wild_end(uint64_t last, size_t len) { return last >> (64 - 8 * len); }

static inline uint64_t bs_wild_long_start(const char *text) {
    return bs_wild_long(bs_word_at(text), bs_word_at(text + 8));
}

static inline uint64_t bs_wild_long_end(const char *text, size_t len) {
    return bs_wild_long_start(text + len - BS_WILD_LONG);
}

/* Of at most four bytes. */
static inline uint64_t bs_wild_window(const char *text, size_t text_len, size_t len) {
    uint32_t window = 0;
    if (text_len >= sizeof window)
        memcpy(&window, text, sizeof window);
    else
        for (size_t i = 0; i < text_len; i++)
            window |= (uint32_t)(unsigned char)text[i] << 8 * i;
    return len < sizeof window ? window & ((UINT32_C(1) << 8 * len) - 1) : window;
}

/* Where the outer bytes of a piece, or of a segment, are in the tables of lengths: two for lengths
 * up to three, four for longer ones. No length is told at both. */
enum { BS_WILD_SHORT_LENGTHS = 0x7 };

static inline uint32_t bs_wild_outer(uint64_t bytes) {
    return (uint32_t)bytes * UINT32_C(0x9E3779B1) >> (32 - BS_WILD_OUTER_BITS);
}

static inline uint32_t bs_wild_outer_start(uint64_t first, bool is_short) {
    return bs_wild_outer(is_short ? first & 0xFFFF : first);
}

static inline uint32_t bs_wild_outer_end(uint64_t last, bool is_short) {
    return bs_wild_outer(is_short ? last >> 48 : last >> 32);
}

/* Lengths of the pieces that a segment can begin, or end, with; one byte is asked for always. */
static inline uint32_t bs_wild_lengths_of(uint32_t at_two, uint32_t at_four) {
    return (at_two & BS_WILD_SHORT_LENGTHS) | (at_four & ~(uint32_t)BS_WILD_SHORT_LENGTHS) | 1U;
}

/* The bit of a length above the side. */
static inline uint32_t bs_wild_kind(enum bs_wild_side side, size_t len) {
    return (uint32_t)side | (uint32_t)(len == BS_WILD_LONG ? 9 : len) << 2;
}

/* The high bits are the good ones. */
static inline uint64_t bs_wild_hash(uint32_t run, uint32_t kind, uint64_t piece) {
    return (piece + ((uint64_t)run << 40) + ((uint64_t)kind << 58)) * UINT64_C(0x9E3779B97F4A7C15);
}

/* Two bits of a word, told by others of the hash than the word. */
static inline uint64_t bs_wild_filter_mask(uint64_t hash) {
    return UINT64_C(1) << (hash >> 34 & 63) | UINT64_C(1) << (hash >> 28 & 63);
}

#endif
