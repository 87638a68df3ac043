/* Tests which entries of /proc need no sealing. An entry that cannot be examined needs sealing. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/mechanisms/proc_sealing.h"
#include "base/buf.h"
#include "support/folder.h"
#include "support/harness.h"

/* Selects the call that fails, counted from 1; 0 lets all calls succeed. */
static struct {
    unsigned fail;
    unsigned calls;
} host;

struct dirent *__real_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir);
int __real_fstatat(int at, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int at, const char *name, struct stat *st, int flags);
int __real_lstat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);

static bool fails(void) {
    bool now = ++host.calls == host.fail;
    if (now)
        errno = EIO;
    return now;
}

struct dirent *__wrap_readdir(DIR *dir) {
    return fails() ? NULL : __real_readdir(dir);
}

int __wrap_fstatat(int at, const char *name, struct stat *st, int flags) {
    return fails() ? -1 : __real_fstatat(at, name, st, flags);
}

int __wrap_lstat(const char *path, struct stat *st) {
    return fails() ? -1 : __real_lstat(path, st);
}

int __wrap_open(const char *path, int flags, ...) {
    return fails() ? -1 : __real_open(path, flags);
}

DIR *__wrap_fdopendir(int fd) { return fails() ? NULL : __real_fdopendir(fd); }

static bool is_listed(const struct folder *folder, const char *name) {
    char wanted[128];
    struct bs_buf names = BS_BUF_INIT;
    bs_buf_char(&names, ':');
    bs_proc_sealing_exceptions(folder->path, &names);
    bs_buf_char(&names, '\0');
    assert_false(names.failed);
    (void)snprintf(wanted, sizeof wanted, ":%s:", name);
    bool found = strstr(names.data, wanted) != NULL;
    bs_buf_clear(&names);
    return found;
}

static void modes_decide(void **state) {
    const struct folder *folder = *state;
    folder_add_file(folder, "read", "", 0444);
    folder_add_file(folder, "owner", "", 0644);
    folder_add_file(folder, "group", "", 0464);
    folder_add_file(folder, "all", "", 0446);
    folder_add_file(folder, "two:words", "", 0444);
    assert_true(is_listed(folder, "read"));
    assert_false(is_listed(folder, "owner"));
    assert_false(is_listed(folder, "group"));
    assert_true(is_listed(folder, "all"));
    assert_false(is_listed(folder, "two:words"));
    assert_false(is_listed(folder, "two"));
}

static void a_directory_is_listed_if_no_writable_file_lies_below_it(void **state) {
    const struct folder *folder = *state;
    folder_add_folder(folder, "empty");
    folder_add_folder(folder, "read");
    folder_add_file(folder, "read/file", "", 0444);
    folder_add_folder(folder, "written");
    folder_add_folder(folder, "written/below");
    folder_add_file(folder, "written/below/file", "", 0644);
    folder_add_folder(folder, "linked");
    int at = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(symlinkat("../written", at, "linked/there"), 0);
    (void)close(at);
    assert_true(is_listed(folder, "empty"));
    assert_true(is_listed(folder, "read"));
    assert_false(is_listed(folder, "written"));
    assert_true(is_listed(folder, "linked"));
}

static void unexamined_entries_count_as_writable(void **state) {
    const struct folder *folder = *state;
    char name[64];
    folder_add_folder(folder, "deep");
    folder_add_folder(folder, "deep/a");
    folder_add_folder(folder, "deep/a/b");
    folder_add_folder(folder, "deep/a/b/c");
    assert_true(is_listed(folder, "deep"));
    folder_add_folder(folder, "deep/a/b/c/d");
    assert_false(is_listed(folder, "deep"));
    folder_add_folder(folder, "many");
    for (int i = 0; i < 63; i++) {
        (void)snprintf(name, sizeof name, "many/%d", i);
        folder_add_file(folder, name, "", 0444);
    }
    assert_true(is_listed(folder, "many"));
    folder_add_file(folder, "many/63", "", 0444);
    assert_false(is_listed(folder, "many"));
}

static void a_failed_call_adds_no_entry(void **state) {
    const struct folder *folder = *state;
    folder_add_folder(folder, "read");
    folder_add_file(folder, "read/file", "", 0444);
    host.fail = 0;
    host.calls = 0;
    assert_true(is_listed(folder, "read"));
    unsigned n = host.calls;
    unsigned listed = 0;
    for (host.fail = 1; host.fail <= n; host.fail++) {
        host.calls = 0;
        listed += is_listed(folder, "read");
    }
    host.fail = 0;
    /* The listing may fail before `.` and `..`, or before the end of the list, so at most a few
     * names are listed. */
    assert_true(listed <= 3);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_folder(modes_decide),
        in_a_folder(a_directory_is_listed_if_no_writable_file_lies_below_it),
        in_a_folder(unexamined_entries_count_as_writable),
        in_a_folder(a_failed_call_adds_no_entry),
    };
    return cmocka_run_group_tests_name("backend/proc_sealing", tests, NULL, NULL);
}
