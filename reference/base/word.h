/* Eight bytes of text as one integer. The first byte is the lowest one on every machine. */
#ifndef BS_BASE_WORD_H
#define BS_BASE_WORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BS_WORD_BYTES 8
#define BS_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t bs_word_at(const char *text) {
    uint64_t word = 0;
    memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* As bs_word_at for fewer than eight bytes. `fill` replaces each missing byte. */
static inline uint64_t bs_word_of_few(const char *text, size_t len, char fill) {
    char bytes[BS_WORD_BYTES];
    memset(bytes, fill, sizeof bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = text[i];
    return bs_word_at(bytes);
}

/* Return the bytes after the last whole word of a text, with zeros above them. */
static inline uint64_t bs_word_rest(const char *text, size_t len) {
    size_t left = len % BS_WORD_BYTES;
    if (left == 0)
        return 0;
    return len < BS_WORD_BYTES
               ? bs_word_of_few(text, len, 0)
               : bs_word_at(text + len - BS_WORD_BYTES) >> 8 * (BS_WORD_BYTES - left);
}

/* Return `len` bytes from `at` on, at most eight, with zeros above them. If the text has eight
 * bytes or more, the function has no branch on `len`, because the processor would often mispredict
 * it. */
static inline uint64_t bs_word_part(const char *text, size_t text_len, size_t at, size_t len) {
    uint64_t keep = len < BS_WORD_BYTES ? (UINT64_C(1) << 8 * len) - 1 : UINT64_MAX;
    if (at + BS_WORD_BYTES <= text_len)
        return bs_word_at(text + at) & keep;
    if (text_len >= BS_WORD_BYTES)
        return bs_word_at(text + text_len - BS_WORD_BYTES) >> 8 >>
                   8 * (at + BS_WORD_BYTES - 1 - text_len) &
               keep;
    return bs_word_of_few(text + at, len, 0);
}

/* Sets the high bit of each byte that equals `byte`, and no other bit. */
static inline uint64_t bs_word_equal(uint64_t word, unsigned char byte) {
    uint64_t low = BS_EACH_BYTE(0x7FU);
    uint64_t differs = word ^ BS_EACH_BYTE((uint64_t)byte);
    return ~(((differs & low) + low) | differs | low);
}

/* Collect the high bits of bs_word_equal in the lowest eight bits. The lowest bit is for the first
 * byte. */
static inline uint64_t bs_word_bits(uint64_t flags) {
    return (flags * UINT64_C(0x0002040810204081)) >> 56;
}

#endif
