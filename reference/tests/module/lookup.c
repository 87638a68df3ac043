#define _GNU_SOURCE
#include "module/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"

static void ids_are_checked_by_their_characters(void **state) {
    (void)state;
    static const char *const good[] = {"a", "_", "0", "a.b-c_d", "A.", "a-"};
    static const char *const bad[] = {"", ".", ".a", "-a", "a..b", "a/b", "a b", "a\n", "\xC3\xA9"};
    for (size_t i = 0; i < LENGTH(good); i++)
        assert_true(bs_module_id_is_valid(good[i]));
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_false(bs_module_id_is_valid(bad[i]));
}

static void a_root_is_made_absolute(void **state) {
    (void)state;
    char *here = getcwd(NULL, 0);
    char wanted[4200];
    (void)unsetenv(BS_MODULE_ROOT);
    (void)snprintf(wanted, sizeof wanted, "%s/./extensions", here);
    char *by_default = bs_module_root(NULL);
    assert_string_equal(by_default, wanted);
    (void)setenv(BS_MODULE_ROOT, "/srv/x", 1);
    char *by_environment = bs_module_root(NULL);
    assert_string_equal(by_environment, "/srv/x");
    (void)snprintf(wanted, sizeof wanted, "%s/mine", here);
    char *by_name = bs_module_root("mine");
    assert_string_equal(by_name, wanted);
    (void)unsetenv(BS_MODULE_ROOT);
    free(here);
    free(by_default);
    free(by_environment);
    free(by_name);
}

static void assert_found(const struct folder *folder, const char *id, bool found) {
    char *file = bs_module_find(folder->path, id);
    if (file == NULL)
        assert_int_equal(errno, ENOENT);
    assert_int_equal(file != NULL, found);
    free(file);
}

static void only_programs_inside_the_root_are_found(void **state) {
    const struct folder *folder = *state;
    folder_add_file(folder, "program", "#!/bin/sh\n", 0755);
    folder_add_file(folder, "text", "x", 0644);
    folder_add_folder(folder, "folder");
    (void)symlinkat("program", folder->fd, "link");
    (void)symlinkat("/bin/sh", folder->fd, "outside");
    (void)symlinkat("nothing", folder->fd, "dangling");
    assert_found(folder, "program", true);
    assert_found(folder, "link", true);
    assert_found(folder, "text", false);
    assert_found(folder, "folder", false);
    assert_found(folder, "outside", false);
    assert_found(folder, "dangling", false);
    assert_found(folder, "missing", false);
    char *shell = bs_module_find("/", "bin/sh");
    assert_non_null(shell);
    free(shell);
}

static void a_sibling_of_the_root_is_not_inside(void **state) {
    const struct folder *folder = *state;
    char root[100];
    folder_add_folder(folder, "root");
    folder_add_folder(folder, "root-not");
    folder_add_file(folder, "root-not/program", "#!/bin/sh\n", 0755);
    (void)symlinkat("../root-not/program", folder->fd, "root/program");
    (void)snprintf(root, sizeof root, "%s/root", folder->path);
    assert_null(bs_module_find(root, "program"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_checked_by_their_characters),
        cmocka_unit_test(a_root_is_made_absolute),
        cmocka_unit_test_setup_teardown(only_programs_inside_the_root_are_found, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_sibling_of_the_root_is_not_inside, folder_setup,
                                        folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
