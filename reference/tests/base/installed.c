#define _GNU_SOURCE
#include "base/installed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/harness.h"

/* The real path of this program. */
static const char *program(void) {
    static char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    return path;
}

static void a_file_next_to_the_program_is_found(void **state) {
    (void)state;
    char *found = bs_find_installed(strrchr(program(), '/') + 1);
    assert_non_null(found);
    assert_string_equal(found, program());
    free(found);
}

static void a_file_of_a_private_folder_for_programs_is_found(void **state) {
    (void)state;
    char folder[PATH_MAX];
    char file[PATH_MAX + 64];
    /* From DIR, this is DIR/../libexec/boxspec. */
    (void)snprintf(folder, sizeof folder, "%s", program());
    *strrchr(folder, '/') = '\0';
    *strrchr(folder, '/') = '\0';
    size_t len = strlen(folder);
    (void)snprintf(folder + len, sizeof folder - len, "/libexec");
    (void)mkdir(folder, 0755);
    (void)snprintf(folder + len, sizeof folder - len, "/libexec/boxspec");
    (void)mkdir(folder, 0755);
    (void)snprintf(file, sizeof file, "%s/helper-%d", folder, (int)getpid());
    assert_int_equal(symlink(program(), file), 0);
    char *found = bs_find_installed(strrchr(file, '/') + 1);
    assert_int_equal(unlink(file), 0);
    (void)rmdir(folder);
    folder[len + strlen("/libexec")] = '\0';
    (void)rmdir(folder);
    assert_non_null(found);
    assert_string_equal(found, program());
    free(found);
}

static void a_missing_program_is_not_found(void **state) {
    (void)state;
    assert_null(bs_find_installed("no-such-program"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_next_to_the_program_is_found),
        cmocka_unit_test(a_file_of_a_private_folder_for_programs_is_found),
        cmocka_unit_test(a_missing_program_is_not_found),
    };
    return cmocka_run_group_tests_name("base/installed", tests, NULL, NULL);
}
