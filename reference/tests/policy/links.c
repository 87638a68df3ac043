#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"
#include "support/holdings.h"

enum { MOST_SEEN = 16 };

struct seen {
    char paths[MOST_SEEN][64];
    uint64_t inodes[MOST_SEEN];
    size_t n;
    size_t stop_at; /* number of the name at which the search is stopped; 0 if it is not stopped */
};

static bool see(void *ctx, const struct bs_link *link) {
    struct seen *seen = ctx;
    assert_true(seen->n < MOST_SEEN);
    assert_true(link->names > 1);
    seen->inodes[seen->n] = link->inode;
    (void)snprintf(seen->paths[seen->n++], sizeof *seen->paths, "%.60s", link->path);
    return seen->n != seen->stop_at;
}

static bool has(const struct seen *seen, const char *path) {
    for (size_t i = 0; i < seen->n; i++) {
        if (strcmp(seen->paths[i], path) == 0)
            return true;
    }
    return false;
}

static void add_names(const struct folder *folder) {
    folder_add_folder(folder, "a");
    folder_add_folder(folder, "a/b");
    folder_add_folder(folder, "empty");
    folder_add_file(folder, "one", "", 0600);
    folder_add_file(folder, "a/two", "", 0600);
    assert_int_equal(linkat(folder->fd, "a/two", folder->fd, "a/b/other", 0), 0);
    /* A symbolic link to a file with two names has only one name itself. A symbolic link to a
     * directory is not followed. */
    assert_int_equal(symlinkat("a/two", folder->fd, "soft"), 0);
    assert_int_equal(symlinkat(".", folder->fd, "loop"), 0);
}

static void every_name_of_a_file_with_several_names_is_found(void **state) {
    const struct folder *folder = *state;
    struct seen seen = {.n = 0};
    struct bs_links_report report;
    struct holdings before = holdings_now();
    add_names(folder);
    assert_int_equal(bs_policy_links(folder->path, UINT64_MAX, see, &seen, &report, NULL), BS_OK);
    assert_int_equal(seen.n, 2);
    assert_true(has(&seen, "a/two") && has(&seen, "a/b/other"));
    assert_true(seen.inodes[0] == seen.inodes[1]);
    assert_int_equal(report.looked_at, 8);
    assert_int_equal(report.found, 2);
    assert_int_equal(report.unreadable, 0);
    assert_false(report.stopped);
    assert_nothing_left(before);
}

static void the_walk_stops_if_the_callback_says_so(void **state) {
    const struct folder *folder = *state;
    struct seen seen = {.stop_at = 1};
    struct bs_links_report report;
    struct holdings before = holdings_now();
    add_names(folder);
    assert_int_equal(bs_policy_links(folder->path, UINT64_MAX, see, &seen, &report, NULL), BS_OK);
    assert_int_equal(seen.n, 1);
    assert_true(report.stopped);
    for (uint64_t most = 0; most <= 8; most++) {
        seen = (struct seen){.n = 0};
        assert_int_equal(bs_policy_links(folder->path, most, see, &seen, &report, NULL), BS_OK);
        assert_int_equal(report.looked_at, most);
        assert_int_equal(report.stopped, most < 8);
    }
    assert_nothing_left(before);
}

static void folders_deeper_than_the_bound_are_counted(void **state) {
    const struct folder *folder = *state;
    struct seen seen = {.n = 0};
    struct bs_links_report report;
    struct holdings before = holdings_now();
    int at = dup(folder->fd);
    for (unsigned i = 0; i < BS_LINKS_MOST_DEPTH; i++) {
        assert_int_equal(mkdirat(at, "d", 0700), 0);
        int below = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(below >= 0);
        (void)close(at);
        at = below;
    }
    (void)close(at);
    assert_int_equal(bs_policy_links(folder->path, UINT64_MAX, see, &seen, &report, NULL), BS_OK);
    assert_int_equal(report.looked_at, BS_LINKS_MOST_DEPTH);
    assert_int_equal(report.unreadable, 1);
    assert_nothing_left(before);
}

static void a_root_that_is_not_a_folder_is_an_error(void **state) {
    const struct folder *folder = *state;
    struct bs_links_report report;
    struct bs_error err = BS_ERROR_INIT;
    char path[128];
    folder_add_file(folder, "file", "", 0600);
    (void)snprintf(path, sizeof path, "%s/file", folder->path);
    assert_int_equal(bs_policy_links(path, 1, see, NULL, &report, &err), BS_E_IO);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(bs_policy_links("/no/such", 1, see, NULL, &report, &err), BS_E_IO);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_folder(every_name_of_a_file_with_several_names_is_found),
        in_a_folder(the_walk_stops_if_the_callback_says_so),
        in_a_folder(folders_deeper_than_the_bound_are_counted),
        in_a_folder(a_root_that_is_not_a_folder_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
