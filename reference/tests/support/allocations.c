#include "support/allocations.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "support/harness.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void __real_free(void *block);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

struct allocations allocations;

static bool fails(void) {
    if (++allocations.count != allocations.fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *block) {
    allocations.live += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : counted(__real_malloc(size)); }

void *__wrap_calloc(size_t n, size_t size) {
    return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *block, size_t size) {
    if (fails())
        return NULL;
    return block != NULL ? __real_realloc(block, size) : counted(__real_realloc(NULL, size));
}

char *__wrap_strdup(const char *text) { return fails() ? NULL : counted(__real_strdup(text)); }

char *__wrap_strndup(const char *text, size_t len) {
    return fails() ? NULL : counted(__real_strndup(text, len));
}

void __wrap_free(void *block) {
    allocations.live -= block != NULL;
    __real_free(block);
}

void each_allocation_fails(int (*once)(const void *context, struct bs_error *err),
                           const void *context, int expected, unsigned least) {
    int live_before = allocations.live;
    for (unsigned n = 1; n < 2000; n++) {
        struct bs_error err = BS_ERROR_INIT;
        allocations.count = 0;
        allocations.fail_at = n;
        int code = once(context, &err);
        bool reached = allocations.count >= n;
        allocations.fail_at = 0;
        assert_int_equal(allocations.live, live_before);
        assert_int_equal(code, reached ? BS_E_EXECUTION : expected);
        if (code != BS_OK)
            assert_true(strlen(err.message) > 0);
        if (!reached) {
            assert_true(n > least);
            return;
        }
    }
    fail_msg("two thousand allocations, and still no result");
}
