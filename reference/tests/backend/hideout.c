#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/internal.h"
#include "support/harness.h"
#include "support/holdings.h"

/* The call that fails, counted from 1; 0: none. */
static struct {
    unsigned fail;
    unsigned calls;
} host;

int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
int __real_unlinkat(int dir, const char *path, int flags);
int __wrap_unlinkat(int dir, const char *path, int flags);

static bool fails(void) {
    bool now = ++host.calls == host.fail;
    if (now)
        errno = ENOMEM;
    return now;
}

int __wrap_openat(int dir, const char *path, int flags, ...) {
    return fails() ? -1 : __real_openat(dir, path, flags);
}

DIR *__wrap_fdopendir(int fd) { return fails() ? NULL : __real_fdopendir(fd); }

int __wrap_unlinkat(int dir, const char *path, int flags) {
    return fails() ? -1 : __real_unlinkat(dir, path, flags);
}

static void one_call_that_fails_leaves_no_directory(void **state) {
    (void)state;
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    bool reached = true;
    unsigned tried = 0;
    for (unsigned n = 1; reached; n++) {
        char *place = NULL;
        struct bs_error err = BS_ERROR_INIT;
        assert_int_equal(bs_hideout_make(&context, &place, &err), BS_OK);
        assert_int_equal(bs_hideout_add(place, "plan", "x", 1, 0400, &err), BS_OK);
        assert_int_equal(bs_hideout_add_dir(place, "tmp", 0700, &err), BS_OK);
        char *again = strdup(place);
        host.fail = n;
        host.calls = 0;
        assert_int_equal(bs_hideout_remove(place, &err), BS_OK);
        reached = host.calls >= n;
        tried += reached;
        host.fail = 0;
        assert_int_equal(access(again, F_OK), -1);
        free(again);
    }
    /* Two directories are opened and read, and they and a file removed. */
    assert_true(tried >= 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {leaves_nothing(one_call_that_fails_leaves_no_directory)};
    return cmocka_run_group_tests_name("backend/hideout", tests, NULL, NULL);
}
