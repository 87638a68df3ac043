#include "support/provider.h"

#include <stdlib.h>
#include <string.h>

/* the interface of the sanitizer; NULL in builds without it */
void __asan_poison_memory_region(const volatile void *at, size_t size) __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void *at, size_t size) __attribute__((weak));

enum { LOAN_BYTES = 1024, MARGIN_BYTES = 64 };

static _Alignas(8) char loan[MARGIN_BYTES + LOAN_BYTES + MARGIN_BYTES];

char *bs_fuzz_block(const void *data, size_t size) {
    char *block = malloc(size);
    if (block == NULL) {
        /* malloc(0) may return NULL, and callers use the block as an empty string */
        block = malloc(1);
        if (block == NULL || size > 0)
            abort();
    }
    if (size > 0)
        memcpy(block, data, size);
    return block;
}

char *bs_fuzz_lend(const void *data, size_t size) {
    static bool poisoned;
    if (__asan_poison_memory_region == NULL || size > LOAN_BYTES)
        return bs_fuzz_block(data, size);
    if (!poisoned)
        __asan_poison_memory_region(loan, sizeof loan);
    poisoned = true;
    __asan_unpoison_memory_region(loan + MARGIN_BYTES, size);
    if (size > 0)
        memcpy(loan + MARGIN_BYTES, data, size);
    return loan + MARGIN_BYTES;
}

void bs_fuzz_give_back(char *block, size_t size) {
    if (block == loan + MARGIN_BYTES)
        __asan_poison_memory_region(block, size);
    else
        free(block);
}
