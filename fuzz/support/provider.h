/* Draws typed values from the bytes of an input, from the front. A used-up input gives zeros, so
 * every input is a complete case, and a longer input begins with the same draws.
 *
 * Any value is usable, so the fuzzer need not guess a magic value to get past a decoder. */
#ifndef BS_FUZZ_PROVIDER_H
#define BS_FUZZ_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bs_fuzz_provider {
    const uint8_t *data;
    size_t left;
};

static inline uint8_t bs_fuzz_byte(struct bs_fuzz_provider *provider) {
    if (provider->left == 0)
        return 0;
    provider->left--;
    return *provider->data++;
}

static inline uint32_t bs_fuzz_u32(struct bs_fuzz_provider *provider) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value = value << 8 | bs_fuzz_byte(provider);
    return value;
}

/* Return a number below n, which is at least 1. This draws one byte if n fits into it. */
static inline uint32_t bs_fuzz_below(struct bs_fuzz_provider *provider, uint32_t n) {
    return n <= 256 ? bs_fuzz_byte(provider) % n : bs_fuzz_u32(provider) % n;
}

static inline bool bs_fuzz_flag(struct bs_fuzz_provider *provider) {
    return (bs_fuzz_byte(provider) & 1) != 0;
}

/* Return a heap block of exactly this size, which the caller frees. The sanitizer reports a read of
 * one byte too many, and no text ends in a NUL by accident. Aborts if memory runs out. */
char *bs_fuzz_block(const void *data, size_t size);

/* As bs_fuzz_block, but cheaper, for a text that is needed for one call only. Give the block back
 * before the next one is lent. The memory on both sides is poisoned for the sanitizer, and the
 * block itself once it is given back. This detects as much as a heap block, and saves the
 * allocation, which is most of the cost of a short case. */
char *bs_fuzz_lend(const void *data, size_t size);
void bs_fuzz_give_back(char *block, size_t size);

#endif
