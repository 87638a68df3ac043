/* Tests that a walk visits all files, or reports that it did not. Each system call of the walk
 * fails once, and some directories cannot be entered. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/plan/walk.h"
#include "base/sys.h"
#include "support/folder.h"
#include "support/harness.h"

/* Selects the call that fails, counted from 1, and its error; 0 lets all calls succeed. */
static struct {
    unsigned fail;
    unsigned calls;
    int os_error;
} host;

static size_t most_bytes = SIZE_MAX; /* the largest block that can be allocated */

void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *__wrap_realloc(void *block, size_t size) {
    return size <= most_bytes ? __real_realloc(block, size) : NULL;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
struct dirent *__real_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir);
int __real_fstatat(int at, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int at, const char *name, struct stat *st, int flags);

static bool fails(void) {
    bool now = ++host.calls == host.fail;
    if (now)
        errno = host.os_error;
    return now;
}

int __wrap_open(const char *path, int flags, ...) {
    return fails() ? -1 : __real_open(path, flags);
}

struct dirent *__wrap_readdir(DIR *dir) {
    return fails() ? NULL : __real_readdir(dir);
}

int __wrap_fstatat(int at, const char *name, struct stat *st, int flags) {
    return fails() ? -1 : __real_fstatat(at, name, st, flags);
}

/* The visits of a walk, one word for each name. `>` is put before a directory that the walk leaves,
 * and `!` before one that cannot be listed. The words are sorted, because the entries of a
 * directory have no order. */
struct log {
    char *words[64];
    size_t n;
};

static void add(struct log *log, const char *mark, const struct bs_walk_entry *at) {
    assert_true(log->n < sizeof log->words / sizeof *log->words);
    assert_true(asprintf(&log->words[log->n++], "%s/%s", mark, at->relative) > 0);
}

static bool enter_directory(void *ctx, const struct bs_walk_entry *at) {
    add(ctx, S_ISDIR(at->st->st_mode) ? "d" : "", at);
    return true;
}

static void leave(void *ctx, const struct bs_walk_entry *at) { add(ctx, ">", at); }

static bool closed(void *ctx, const struct bs_walk_entry *at) {
    add(ctx, "!", at);
    return true;
}

static int by_word(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Return all words, each followed by a blank. Valid until the next call. */
static const char *words_of(struct log *log) {
    static char text[1024];
    text[0] = '\0';
    qsort(log->words, log->n, sizeof *log->words, by_word);
    for (size_t i = 0; i < log->n; i++) {
        strcat(strcat(text, log->words[i]), " ");
        free(log->words[i]);
    }
    log->n = 0;
    return text;
}

static void make_tree(const struct folder *folder) {
    folder_add_folder(folder, "a");
    folder_add_folder(folder, "a/b");
    folder_add_file(folder, "a/b/x", "x", 0600);
    folder_add_file(folder, "y", "y", 0600);
}

static const char all[] = "/a/b/x /y >/ >/a >/a/b d/ d/a d/a/b ";

static int walk(const struct folder *folder, struct log *log, struct bs_error *err) {
    const struct bs_walk walk = {.root = folder->path,
                                 .ctx = log,
                                 .enter = enter_directory,
                                 .leave = leave,
                                 .unreadable = closed,
                                 .cancel = -1};
    host.calls = 0;
    return bs_walk_tree(&walk, err);
}

static void each_name_is_visited_once(void **state) {
    const struct folder *folder = *state;
    struct log log = {.n = 0};
    make_tree(folder);
    assert_int_equal(symlinkat("a", folder->fd, "link"), 0);
    assert_int_equal(walk(folder, &log, NULL), BS_OK);
    assert_string_equal(words_of(&log), "/a/b/x /link /y >/ >/a >/a/b d/ d/a d/a/b ");
}

struct counts {
    unsigned names;
    unsigned entered;
    unsigned left;
};

static bool count_entered(void *ctx, const struct bs_walk_entry *at) {
    struct counts *counts = ctx;
    counts->names++;
    counts->entered += S_ISDIR(at->st->st_mode);
    return true;
}

static void count_left(void *ctx, const struct bs_walk_entry *at) {
    struct counts *counts = ctx;
    (void)at;
    counts->left++;
}

static void a_lack_of_descriptors_or_memory_is_an_error(void **state) {
    const struct folder *folder = *state;
    struct log log = {.n = 0};
    make_tree(folder);
    host.os_error = ENOMEM;
    unsigned errors = 0;
    for (host.fail = 1;; host.fail++) {
        struct bs_error err = BS_ERROR_INIT;
        int code = walk(folder, &log, &err);
        const char *seen = words_of(&log);
        if (host.calls < host.fail) {
            assert_int_equal(code, BS_OK);
            assert_string_equal(seen, all);
            break;
        }
        assert_int_equal(code, BS_E_EXECUTION);
        assert_true(strstr(err.message, folder->path) != NULL);
        errors++;
    }
    host.fail = 0;
    /* the tree has three directories and four names, each of which needs a call */
    assert_true(errors > 8);
}

static void meet_closed(const struct folder *folder, int os_error) {
    struct log log = {.n = 0};
    host.os_error = os_error;
    host.fail = 0;
    unsigned met = 0;
    for (bool struck = true; struck; struck = host.calls >= host.fail) {
        host.fail++;
        assert_int_equal(walk(folder, &log, NULL), BS_OK);
        const char *seen = words_of(&log);
        met += strchr(seen, '!') != NULL;
        /* If a directory could not be read, no part of its content may be reported. */
        if (strstr(seen, "!/a/b ") != NULL)
            assert_string_equal(seen, "!/a/b /y >/ >/a >/a/b d/ d/a d/a/b ");
    }
    host.fail = 0;
    assert_true(met > 8);
}

static void an_unreadable_directory_is_reported_as_closed(void **state) {
    const struct folder *folder = *state;
    make_tree(folder);
    meet_closed(folder, EACCES);
    meet_closed(folder, EIO);
}

static void fill(const struct folder *folder, unsigned files) {
    for (unsigned i = 0; i < files; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "f%u", i);
        folder_add_file(folder, name, "", 0600);
    }
}

/* The walk stops in the middle, but it must leave each directory that it has entered. */
static void a_walk_stops_at_its_time_limit(void **state) {
    enum { FILES = 1500 };
    const struct folder *folder = *state;
    struct counts counts = {0, 0, 0};
    bool cut = false;
    fill(folder, FILES);
    const struct bs_walk walk = {.root = folder->path,
                                 .ctx = &counts,
                                 .enter = count_entered,
                                 .leave = count_left,
                                 .cancel = -1,
                                 .cut = &cut};
    host.calls = 0;
    assert_int_equal(bs_walk_tree(&walk, NULL), BS_OK);
    assert_true(cut);
    assert_int_equal(counts.names, 1);
    assert_int_equal(counts.entered, 1);
    assert_int_equal(counts.left, 1);
    /* the directory itself was not read to its end */
    assert_true(host.calls < FILES);
    cut = false;
    struct bs_walk cancelled = walk;
    cancelled.until = BS_NEVER;
    cancelled.cancel = open("/dev/null", O_RDONLY | O_CLOEXEC); /* always readable */
    struct bs_error err = BS_ERROR_INIT;
    host.calls = 0;
    assert_int_equal(bs_walk_tree(&cancelled, &err), BS_E_EXECUTION);
    assert_int_equal(err.os_error, ECANCELED);
    assert_true(host.calls < FILES);
    (void)close(cancelled.cancel);
}

/* A program may have filled the directory, so this must not end a walk that may be incomplete. */
static void a_directory_that_does_not_fit_in_memory_cuts_the_walk(void **state) {
    enum { FILES = 200, MOST_BYTES = 16 * 1024 };
    const struct folder *folder = *state;
    struct counts counts = {0, 0, 0};
    bool cut = false;
    fill(folder, FILES);
    struct bs_walk walk = {.root = folder->path,
                           .ctx = &counts,
                           .enter = count_entered,
                           .leave = count_left,
                           .cancel = -1,
                           .cut = &cut,
                           .until = BS_NEVER};
    most_bytes = MOST_BYTES;
    int code = bs_walk_tree(&walk, NULL);
    walk.cut = NULL;
    int whole = bs_walk_tree(&walk, NULL);
    most_bytes = SIZE_MAX;
    assert_int_equal(code, BS_OK);
    assert_true(cut);
    assert_int_equal(counts.left, 1);
    assert_int_equal(whole, BS_E_EXECUTION);
}

static void a_vanished_entry_is_skipped(void **state) {
    const struct folder *folder = *state;
    struct log log = {.n = 0};
    make_tree(folder);
    host.os_error = ENOENT;
    for (bool struck = true; struck; struck = host.calls >= host.fail) {
        host.fail++;
        assert_int_equal(walk(folder, &log, NULL), BS_OK);
        assert_null(strchr(words_of(&log), '!'));
    }
    host.fail = 0;
    struct folder nowhere = {.path = "/boxspec/no/such"};
    assert_int_equal(walk(&nowhere, &log, NULL), BS_OK);
    assert_string_equal(words_of(&log), "");
}

static void a_directory_beyond_the_longest_path_is_reported_as_closed(void **state) {
    enum { DEPTH = 17 };
    const struct folder *folder = *state;
    struct log log = {.n = 0};
    char name[251];
    int at[DEPTH + 1];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    at[0] = folder->fd;
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(at[i], name, 0700), 0);
        at[i + 1] = openat(at[i], name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(at[i + 1] >= 0);
    }
    assert_int_equal(walk(folder, &log, NULL), BS_OK);
    for (int i = DEPTH; i > 0; i--) {
        (void)close(at[i]);
        assert_int_equal(unlinkat(at[i - 1], name, AT_REMOVEDIR), 0);
    }
    size_t closed_ones = 0;
    for (size_t i = 0; i < log.n; i++) {
        closed_ones += log.words[i][0] == '!';
        free(log.words[i]);
    }
    assert_int_equal(closed_ones, 1);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_folder(each_name_is_visited_once),
        in_a_folder(a_lack_of_descriptors_or_memory_is_an_error),
        in_a_folder(an_unreadable_directory_is_reported_as_closed),
        in_a_folder(a_walk_stops_at_its_time_limit),
        in_a_folder(a_directory_that_does_not_fit_in_memory_cuts_the_walk),
        in_a_folder(a_vanished_entry_is_skipped),
        in_a_folder(a_directory_beyond_the_longest_path_is_reported_as_closed),
    };
    return cmocka_run_group_tests_name("backend/walk", tests, NULL, NULL);
}
