#include "support/memory.h"

#include <malloc.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static ptrdiff_t held;
static ptrdiff_t peak;

void bs_fuzz_memory_start(void) { held = peak = 0; }

ptrdiff_t bs_fuzz_memory_held(void) { return held; }

ptrdiff_t bs_fuzz_memory_peak(void) { return peak; }

static void *taken(void *block) {
    held += block != NULL ? (ptrdiff_t)malloc_usable_size(block) : 0;
    peak = held > peak ? held : peak;
    return block;
}

void *__wrap_malloc(size_t size) { return taken(__real_malloc(size)); }

void *__wrap_calloc(size_t n, size_t size) { return taken(__real_calloc(n, size)); }

void *__wrap_realloc(void *block, size_t size) {
    size_t before = block != NULL ? malloc_usable_size(block) : 0;
    void *grown = __real_realloc(block, size);
    if (grown == NULL)
        return NULL;
    held -= (ptrdiff_t)before;
    return taken(grown);
}

void __wrap_free(void *block) {
    held -= block != NULL ? (ptrdiff_t)malloc_usable_size(block) : 0;
    __real_free(block);
}
