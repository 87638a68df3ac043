#define _GNU_SOURCE
#include "engines/starve.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"
#include "support/case.h"
#include "support/fail.h"

enum { MOST_RUNS = 12 };

static uint64_t allocations;
static uint64_t fails; /* number of the allocation that fails; 0: none fails */
static sigjmp_buf escape;

static bool starved(void) { return ++allocations == fails; }

void *bs_starved_malloc(size_t size) { return starved() ? NULL : malloc(size); }

void *bs_starved_calloc(size_t n, size_t size) { return starved() ? NULL : calloc(n, size); }

void *bs_starved_realloc(void *block, size_t size) {
    return starved() ? NULL : realloc(block, size);
}

/* The linker redirects the reference's calls of these functions to this file. An arena allocates
 * many pieces at once, but each caller of an arena must handle a failure too. */
void *__real_bs_arena_take(struct bs_arena *arena, size_t size);
void *__real_bs_arena_zeroed(struct bs_arena *arena, size_t n, size_t size);
char *__real_bs_arena_bytes(struct bs_arena *arena, size_t size);
char *__real_bs_arena_text(struct bs_arena *arena, const char *text, size_t len);
void *__wrap_bs_arena_take(struct bs_arena *arena, size_t size);
void *__wrap_bs_arena_zeroed(struct bs_arena *arena, size_t n, size_t size);
char *__wrap_bs_arena_bytes(struct bs_arena *arena, size_t size);
char *__wrap_bs_arena_text(struct bs_arena *arena, const char *text, size_t len);

void *__wrap_bs_arena_take(struct bs_arena *arena, size_t size) {
    return starved() ? NULL : __real_bs_arena_take(arena, size);
}

void *__wrap_bs_arena_zeroed(struct bs_arena *arena, size_t n, size_t size) {
    return starved() ? NULL : __real_bs_arena_zeroed(arena, n, size);
}

char *__wrap_bs_arena_bytes(struct bs_arena *arena, size_t size) {
    return starved() ? NULL : __real_bs_arena_bytes(arena, size);
}

char *__wrap_bs_arena_text(struct bs_arena *arena, const char *text, size_t len) {
    return starved() ? NULL : __real_bs_arena_text(arena, text, len);
}

static void leave(void) { siglongjmp(escape, 1); }

/* Go on with the next run. A target that assumes the success of the reference may crash here, and
 * such a crash is no finding. */
static void on_death(int number) {
    (void)number;
    leave();
}

static void run(const uint8_t *data, size_t size, uint64_t failing) {
    allocations = 0;
    fails = failing;
    if (sigsetjmp(escape, 1) == 0)
        (void)LLVMFuzzerTestOneInput(data, size);
    fails = 0;
}

void bs_fuzz_starve(const uint8_t *data, size_t size) {
    bs_fuzz_escape = leave;
    signal(SIGSEGV, on_death);
    signal(SIGABRT, on_death);
    run(data, size, 0);
    uint64_t total = allocations;
    uint64_t runs = total < MOST_RUNS ? total : MOST_RUNS;
    /* Spread the failures over the whole run, and start each input at another allocation. So many
     * inputs together cover all allocations. */
    uint64_t from = bs_fuzz_input_hash();
    for (uint64_t i = 0; i < runs; i++)
        run(data, size, 1 + (from + i * total / runs) % total);
}
