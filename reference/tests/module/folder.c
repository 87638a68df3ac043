#define _GNU_SOURCE
#include "module/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/mounted.h"

static bool is_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static void a_new_folder_is_empty_and_private(void **state) {
    (void)state;
    char *path = bs_module_folder_make();
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(rmdir(path), 0);
    /* this succeeds, because the directory is removed already */
    assert_true(bs_module_folder_remove(path, 0));
    free(path);
}

static void the_umask_does_not_change_the_mode(void **state) {
    (void)state;
    mode_t before = umask(0177);
    char *path = bs_module_folder_make();
    (void)umask(before);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(rmdir(path), 0);
    free(path);
}

static void a_folder_that_cannot_be_made_is_an_error(void **state) {
    (void)state;
    char *before = getenv("TMPDIR");
    char *kept = before != NULL ? strdup(before) : NULL;
    (void)setenv("TMPDIR", "/dev/null", 1);
    errno = 0;
    assert_null(bs_module_folder_make());
    assert_int_equal(errno, ENOTDIR);
    if (kept != NULL)
        (void)setenv("TMPDIR", kept, 1);
    else
        (void)unsetenv("TMPDIR");
    free(kept);
}

/* Make `depth` directories, each inside the one before it, and a file in the last one. */
static void dig(int top, unsigned depth) {
    int at = dup(top);
    for (unsigned i = 0; i < depth; i++) {
        assert_int_equal(mkdirat(at, "deeper", 0700), 0);
        int below = openat(at, "deeper", O_RDONLY | O_DIRECTORY);
        assert_true(below >= 0);
        bs_close(&at);
        at = below;
    }
    int file = openat(at, "file", O_CREAT | O_WRONLY, 0);
    bs_close(&file);
    bs_close(&at);
}

static void removal_succeeds_for_any_depth_mode_and_link(void **state) {
    (void)state;
    char *path = bs_module_folder_make();
    char *other = bs_module_folder_make();
    int top = open(path, O_RDONLY | O_DIRECTORY);
    int other_fd = open(other, O_RDONLY | O_DIRECTORY);
    int file = openat(other_fd, "kept", O_CREAT | O_WRONLY, 0600);
    bs_close(&file);
    dig(top, 1500);
    assert_int_equal(mkdirat(top, ".0", 0700), 0); /* a name that the removal itself would choose */
    assert_int_equal(symlinkat(other, top, "link"), 0);
    assert_int_equal(symlinkat(other, top, "deeper/link"), 0);
    assert_int_equal(fchmodat(top, "deeper/deeper", 0, 0), 0);
    assert_int_equal(fchmodat(top, "deeper", 0, 0), 0);
    assert_int_equal(fchmod(top, 0500), 0);
    bs_close(&top);
    assert_true(bs_module_folder_remove(path, 1000));
    assert_false(is_there(path));
    assert_int_equal(faccessat(other_fd, "kept", F_OK, 0), 0);
    bs_close(&other_fd);
    assert_true(bs_module_folder_remove(other, 0));
    free(path);
    free(other);
}

static atomic_bool stopped;
static atomic_uint written;

/* Write files in such a way that there are always at least two of them, so the directory is never
 * empty. */
static void *keep_writing(void *arg) {
    const int *top = arg;
    while (!stopped) {
        for (const char *name = "abcdefgh"; *name != '\0'; name++) {
            const char text[2] = {*name, '\0'};
            (void)mkdirat(*top, text, 0700);
        }
        written++;
    }
    return NULL;
}

/* A link has replaced the directory. The link must be removed, and its target must not change. */
static void a_link_in_the_folders_place_is_not_followed(void **state) {
    (void)state;
    char *path = bs_module_folder_make();
    char *other = bs_module_folder_make();
    int other_fd = open(other, O_RDONLY | O_DIRECTORY);
    int file = openat(other_fd, "kept", O_CREAT | O_WRONLY, 0600);
    struct stat st;
    bs_close(&file);
    assert_int_equal(fchmod(other_fd, 0750), 0);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_true(bs_module_folder_remove(path, 1000));
    assert_false(is_there(path));
    assert_int_equal(fstat(other_fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(unlinkat(other_fd, "kept", 0), 0);
    bs_close(&other_fd);
    assert_int_equal(rmdir(other), 0);
    free(path);
    free(other);
}

static bool remove_folder(const char *path) { return bs_module_folder_remove(path, 10); }

static void a_mount_over_the_folder_is_not_entered(void **state) {
    (void)state;
    char *path = bs_module_folder_make();
    bool stays = mounted_stays(path, path, remove_folder);
    assert_true(bs_module_folder_remove(path, 1000));
    free(path);
    assert_true(stays);
}

static void a_mount_below_the_folder_is_not_entered(void **state) {
    (void)state;
    char *path = bs_module_folder_make();
    char point[PATH_MAX];
    (void)snprintf(point, sizeof point, "%s/point", path);
    assert_int_equal(mkdir(point, 0700), 0);
    bool stays = mounted_stays(point, path, remove_folder);
    assert_true(bs_module_folder_remove(path, 1000));
    free(path);
    assert_true(stays);
}

static void the_removal_stops_at_its_limit_if_files_keep_appearing(void **state) {
    (void)state;
    char *path = bs_module_folder_make();
    int top = open(path, O_RDONLY | O_DIRECTORY);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, keep_writing, &top), 0);
    while (written < 2) {
    }
    uint64_t start = bs_now_ns();
    bool removed = bs_module_folder_remove(path, 100);
    uint64_t took_ms = (bs_now_ns() - start) / BS_NS_PER_MS;
    stopped = true;
    (void)pthread_join(writer, NULL);
    /* Either side may win this race. But the removal must end in time, and must report correctly
     * whether the directory is gone. */
    assert_true(removed == !is_there(path));
    assert_true(removed || took_ms >= 100);
    bs_close(&top);
    assert_true(bs_module_folder_remove(path, 1000));
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_new_folder_is_empty_and_private),
        leaves_nothing(the_umask_does_not_change_the_mode),
        leaves_nothing(a_folder_that_cannot_be_made_is_an_error),
        leaves_nothing(removal_succeeds_for_any_depth_mode_and_link),
        leaves_nothing(a_link_in_the_folders_place_is_not_followed),
        leaves_nothing(a_mount_over_the_folder_is_not_entered),
        leaves_nothing(a_mount_below_the_folder_is_not_entered),
        leaves_nothing(the_removal_stops_at_its_limit_if_files_keep_appearing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
