/* Tests which additional paths a list of mounts gives to files of a workspace. The list is a file
 * that the test writes. Links to directories are used in place of mounts, because they lead to the
 * same files. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/plan/mounted_names.h"
#include "support/folder.h"
#include "support/harness.h"

static const char *list; /* path of the list of mounts, or NULL if it cannot be opened */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
ssize_t __real_getline(char **line, size_t *size, FILE *stream);
ssize_t __wrap_getline(char **line, size_t *size, FILE *stream);
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *stream);

static unsigned lines_left = UINT_MAX; /* lines that can be read before memory runs out */

/* When memory runs out, the C library does not set the error flag of the stream either. */
ssize_t __wrap_getline(char **line, size_t *size, FILE *stream) {
    if (lines_left-- > 0)
        return __real_getline(line, size, stream);
    errno = ENOMEM;
    return -1;
}

/* The optimiser replaces getline by this function. */
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *stream) {
    assert_int_equal(end, '\n');
    return __wrap_getline(line, size, stream);
}

FILE *__wrap_fopen(const char *path, const char *mode) {
    if (strcmp(path, "/proc/self/mountinfo") != 0)
        return __real_fopen(path, mode);
    if (list == NULL)
        errno = EACCES;
    return list == NULL ? NULL : __real_fopen(list, mode);
}

struct place {
    struct folder *folder;
    char root[96];
    char list[96];
    char real[96]; /* the same folder, through a link */
    struct bs_mounted_names names;
};

static int setup(void **state) {
    struct place *place = calloc(1, sizeof *place);
    void *folder = NULL;
    if (place == NULL || folder_setup(&folder) != 0) {
        free(place);
        return -1;
    }
    place->folder = folder;
    folder_add_folder(folder, "w s");
    folder_add_folder(folder, "w s/dir");
    folder_add_file(folder, "w s/dir/key", "", 0600);
    (void)snprintf(place->root, sizeof place->root, "%s/w s", place->folder->path);
    (void)snprintf(place->list, sizeof place->list, "%s/list", place->folder->path);
    (void)snprintf(place->real, sizeof place->real, "%s/again", place->folder->path);
    if (symlink(place->folder->path, place->real) != 0)
        return -1;
    list = place->list;
    *state = place;
    return 0;
}

static int teardown(void **state) {
    struct place *place = *state;
    void *folder = place->folder;
    bs_mounted_names_clear(&place->names);
    free(place);
    return folder_teardown(&folder);
}

/* Write a list with two mounts: the file system of the workspace, and one more. Then find the
 * names. */
static void find(struct place *place, const char *device, const char *inner, const char *at) {
    char text[512];
    (void)snprintf(text, sizeof text, "1 0 8:1 / / rw - ext4 d rw\n2 1 %s %s%s %s rw - ext4 d rw\n",
                   device, inner[0] == '/' ? "" : place->folder->path,
                   inner[0] == '/' ? inner : inner + 1, at);
    folder_add_file(place->folder, "list", text, 0600);
    assert_int_equal(bs_mounted_names_find(place->root, &place->names), 0);
}

static void expect_name(const struct place *place, const char *path, const char *other) {
    char text[2][256];
    (void)snprintf(text[0], sizeof text[0], "%s%s", place->root, path);
    (void)snprintf(text[1], sizeof text[1], "%s%s", place->folder->path, other);
    assert_int_equal(place->names.n, 1);
    assert_string_equal(place->names.list[0].path, text[0]);
    assert_string_equal(place->names.list[0].other, text[1]);
}

static void a_mount_of_a_directory_above_shows_the_root(void **state) {
    struct place *place = *state;
    find(place, "8:1", ".", place->real);
    expect_name(place, "", "/again/w s");
}

static void a_mount_of_a_directory_below_shows_that_directory(void **state) {
    struct place *place = *state;
    char at[128];
    (void)snprintf(at, sizeof at, "%s/w\\040s/dir", place->real);
    find(place, "8:1", "./w\\040s/dir", at);
    expect_name(place, "/dir", "/again/w s/dir");
}

static void a_mount_of_another_device_shows_nothing(void **state) {
    struct place *place = *state;
    find(place, "8:2", ".", place->real);
    assert_int_equal(place->names.n, 0);
}

static void a_mount_that_is_covered_shows_nothing(void **state) {
    struct place *place = *state;
    find(place, "8:1", ".", "/proc");
    assert_int_equal(place->names.n, 0);
}

static void a_list_that_cannot_be_read_is_an_error(void **state) {
    struct place *place = *state;
    list = NULL;
    assert_int_equal(bs_mounted_names_find(place->root, &place->names), EACCES);
}

static void a_list_that_is_not_read_to_its_end_is_an_error(void **state) {
    struct place *place = *state;
    find(place, "8:1", ".", place->real);
    lines_left = 1;
    assert_int_equal(bs_mounted_names_find(place->root, &place->names), ENOMEM);
    lines_left = UINT_MAX;
}

static void a_file_has_the_other_path_of_its_directory(void **state) {
    struct place *place = *state;
    char path[128];
    char *other = NULL;
    bool is_dir = true;
    find(place, "8:1", ".", place->real);
    (void)snprintf(path, sizeof path, "%s/dir/key", place->root);
    assert_true(bs_mounted_name_of(&place->names.list[0], path, &other, &is_dir));
    assert_non_null(other);
    assert_string_equal(other + strlen(place->real), "/w s/dir/key");
    assert_false(is_dir);
    free(other);
    assert_true(bs_mounted_name_of(&place->names.list[0], "/usr/bin", &other, &is_dir));
    assert_null(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_mount_of_a_directory_above_shows_the_root, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_mount_of_a_directory_below_shows_that_directory, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_mount_of_another_device_shows_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_mount_that_is_covered_shows_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_that_cannot_be_read_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_that_is_not_read_to_its_end_is_an_error, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_file_has_the_other_path_of_its_directory, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
