/* Typed draws from the bytes of an input, from the front. An input that is used up gives zeroes, so
 * every input is a whole case and a longer one begins with the same draws.
 *
 * A draw never asks for a certain value: nothing has to be guessed to get past a decoder. */
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

/* Below n, which is 1 or more; one byte is drawn while n fits into it. */
static inline uint32_t bs_fuzz_below(struct bs_fuzz_provider *provider, uint32_t n) {
    return n <= 256 ? bs_fuzz_byte(provider) % n : bs_fuzz_u32(provider) % n;
}

static inline bool bs_fuzz_flag(struct bs_fuzz_provider *provider) {
    return (bs_fuzz_byte(provider) & 1) != 0;
}

/* A heap block of exactly this size, to be freed: with the sanitizer one byte read behind it is
 * seen, and nothing ends in a NUL by accident. Ends the process when memory runs out. */
char *bs_fuzz_block(const void *data, size_t size);

/* Such a block for one call, to be given back before the next is lent. With the sanitizer it is
 * memory that is poisoned on both sides, and all of it when it is back: as sharp as the heap, which
 * is most of what a short case costs. */
char *bs_fuzz_lend(const void *data, size_t size);
void bs_fuzz_give_back(char *block, size_t size);

#endif
