#include "support/memory.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static ptrdiff_t held;
static size_t taken;

void bs_fuzz_memory_start(void) {
    held = 0;
    taken = 0;
}

ptrdiff_t bs_fuzz_memory_held(void) { return held; }

size_t bs_fuzz_memory_taken(void) { return taken; }

static void *note(void *block, size_t size) {
    held += block != NULL;
    taken += block != NULL ? size : 0;
    return block;
}

void *__wrap_malloc(size_t size) { return note(__real_malloc(size), size); }

void *__wrap_calloc(size_t n, size_t size) { return note(__real_calloc(n, size), n * size); }

void *__wrap_realloc(void *block, size_t size) {
    void *grown = note(__real_realloc(block, size), size);
    held -= grown != NULL && block != NULL;
    return grown;
}

void __wrap_free(void *block) {
    held -= block != NULL;
    __real_free(block);
}
