/* Handles up to 64 bytes of text in registers, on machines with SSE2. */
#ifndef BS_POLICY_PATH_BLOCK_H
#define BS_POLICY_PATH_BLOCK_H

#ifdef __SSE2__
#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Return the n bytes of a short text, followed by zeros up to sixteen bytes. No byte after the text
 * is read, because the next page may not exist. */
static inline __m128i bs_block_short(const char *text, size_t n) {
    uint64_t low = 0;
    uint64_t high = 0;
    if (n >= 8) {
        memcpy(&low, text, 8);
        if (n > 8) {
            memcpy(&high, text + n - 8, 8);
            high >>= 8 * (16 - n);
        }
    } else if (n >= 4) {
        uint32_t first = 0;
        uint32_t last = 0;
        memcpy(&first, text, 4);
        memcpy(&last, text + n - 4, 4);
        low = first | (uint64_t)last << 8 * (n - 4);
    } else {
        for (size_t i = 0; i < n; i++)
            low |= (uint64_t)(unsigned char)text[i] << 8 * i;
    }
    return _mm_set_epi64x((long long)high, (long long)low);
}

/* Return a mask in which bit i is set if byte i is `c`. */
static inline uint64_t bs_block_mask(__m128i bytes, char c) {
    return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}
#endif

#endif
