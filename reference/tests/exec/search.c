#define _GNU_SOURCE
#include "exec/search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"

static int setup(void **state) {
    if (folder_setup(state) != 0)
        return -1;
    const struct folder *folder = *state;
    folder_add_folder(folder, "1");
    folder_add_folder(folder, "2");
    folder_add_file(folder, "1/tool", "", 0755);
    folder_add_file(folder, "2/tool", "", 0755);
    folder_add_file(folder, "2/second", "", 0755);
    folder_add_file(folder, "1/plain", "", 0644);
    folder_add_file(folder, "2/plain", "", 0755);
    folder_add_file(folder, "1/locked", "", 0644);
    folder_add_folder(folder, "1/dir");
    folder_add_folder(folder, "1/both");
    folder_add_file(folder, "2/both", "", 0755);
    folder_add_file(folder, "here", "", 0755);
    assert_int_equal(symlinkat("tool", folder->fd, "1/link"), 0);
    assert_int_equal(symlinkat("missing", folder->fd, "1/dangling"), 0);
    return 0;
}

static void assert_found(const struct folder *folder, const char *program, const char *path,
                         const char *expected) {
    char *found = NULL;
    assert_int_equal(bs_search(folder->fd, program, path, &found), 0);
    assert_string_equal(found, expected);
    free(found);
}

static void assert_missed(const struct folder *folder, const char *program, const char *path,
                          int os_error) {
    char *found = (char[]){"untouched"};
    assert_int_equal(bs_search(folder->fd, program, path, &found), os_error);
    assert_null(found);
}

static void entries_are_tried_in_their_order(void **state) {
    const struct folder *folder = *state;
    assert_found(folder, "tool", "1:2", "1/tool");
    assert_found(folder, "tool", "2:1", "2/tool");
    assert_found(folder, "second", "1:2", "2/second");
    assert_found(folder, "second", "missing:1:2", "2/second");
    assert_found(folder, "tool", "1/:2", "1//tool");
    assert_found(folder, "link", "1", "1/link");
}

static void absolute_entries_do_not_depend_on_the_directory(void **state) {
    const struct folder *folder = *state;
    char path[128];
    char expected[160];
    (void)snprintf(path, sizeof path, "/nowhere:%s/2", folder->path);
    (void)snprintf(expected, sizeof expected, "%s/2/tool", folder->path);
    char *found = NULL;
    assert_int_equal(bs_search(AT_FDCWD, "tool", path, &found), 0);
    assert_string_equal(found, expected);
    free(found);
}

static void files_that_cannot_be_executed_are_skipped(void **state) {
    const struct folder *folder = *state;
    assert_found(folder, "both", "1:2", "2/both");
    assert_found(folder, "plain", "1:2", "2/plain");
}

static void a_candidate_that_cannot_be_executed_gives_eacces(void **state) {
    const struct folder *folder = *state;
    assert_missed(folder, "dir", "1:2", EACCES);
    assert_missed(folder, "locked", "1:2", EACCES);
    assert_missed(folder, "locked", "1:missing", EACCES);
    assert_missed(folder, "locked", "2:1", EACCES);
}

static void no_candidate_gives_enoent(void **state) {
    const struct folder *folder = *state;
    assert_missed(folder, "nothing", "1:2", ENOENT);
    assert_missed(folder, "dangling", "1", ENOENT);
    assert_missed(folder, "tool", "missing", ENOENT);
    /* this entry of PATH is a file and not a directory */
    assert_missed(folder, "tool", "here", ENOENT);
    assert_missed(folder, "tool", "", ENOENT);
    assert_missed(folder, "", "1:2", ENOENT);
}

static void an_empty_entry_is_the_working_directory(void **state) {
    const struct folder *folder = *state;
    assert_found(folder, "here", "", "./here");
    assert_found(folder, "here", ":1", "./here");
    assert_found(folder, "here", "1:", "./here");
    assert_found(folder, "here", "1::2", "./here");
    assert_found(folder, "here", ".", "./here");
    assert_missed(folder, "here", "1:2", ENOENT);
}

static void a_name_with_a_slash_is_not_looked_up(void **state) {
    const struct folder *folder = *state;
    assert_found(folder, "./tool", "1:2", "./tool");
    assert_found(folder, "2/tool", "1", "2/tool");
    assert_found(folder, "/no/such/file", "1", "/no/such/file");
    assert_found(folder, "tool/", "1", "tool/");
}

static void without_PATH_the_systems_default_is_used(void **state) {
    const struct folder *folder = *state;
    char *found = NULL;
    assert_int_equal(bs_search(folder->fd, "sh", NULL, &found), 0);
    assert_true(strcmp(found, "/bin/sh") == 0 || strcmp(found, "/usr/bin/sh") == 0);
    free(found);
    assert_missed(folder, "here", NULL, ENOENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_tried_in_their_order),
        cmocka_unit_test(absolute_entries_do_not_depend_on_the_directory),
        cmocka_unit_test(files_that_cannot_be_executed_are_skipped),
        cmocka_unit_test(a_candidate_that_cannot_be_executed_gives_eacces),
        cmocka_unit_test(no_candidate_gives_enoent),
        cmocka_unit_test(an_empty_entry_is_the_working_directory),
        cmocka_unit_test(a_name_with_a_slash_is_not_looked_up),
        cmocka_unit_test(without_PATH_the_systems_default_is_used),
    };
    return cmocka_run_group_tests_name("exec/search", tests, setup, folder_teardown);
}
