#define _GNU_SOURCE
#include <boxspec/sbpl.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/harness.h"

/* The simulated file at the path of the wrapper. */
static struct {
    bool there;
    mode_t mode;
    bool executable;
    const char *checked_path;
} wrapper;

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_faccessat(int fd, const char *path, int mode, int flags);

int __wrap_stat(const char *path, struct stat *st) {
    if (strcmp(path, BS_SBPL_WRAPPER) != 0)
        return __real_stat(path, st);
    *st = (struct stat){.st_mode = wrapper.mode};
    errno = ENOENT;
    return wrapper.there ? 0 : -1;
}

int __wrap_faccessat(int fd, const char *path, int mode, int flags) {
    (void)fd;
    (void)flags;
    wrapper.checked_path = path;
    assert_int_equal(mode, X_OK);
    errno = EACCES;
    return wrapper.executable ? 0 : -1;
}

static struct bs_sbpl_command command_of(const char *const *argv) {
    return (struct bs_sbpl_command){
        .argv = argv, .file = "/f.sb", .provider = BS_PROVIDER_NONE, .wrapper = BS_WRAPPER_PRESENT};
}

static void assert_argv(char *const *argv, const char *const *expected) {
    size_t n = 0;
    for (; expected[n] != NULL; n++) {
        assert_non_null(argv[n]);
        assert_string_equal(argv[n], expected[n]);
    }
    assert_null(argv[n]);
}

static void every_argument_follows_the_wrapper(void **state) {
    (void)state;
    static const char *const argv[] = {"x",  "",     " ",     "-f", "--", "a\"b",
                                       "\n", "\xff", "-s=\\", "--", NULL};
    static const char *const expected[] = {
        BS_SBPL_WRAPPER, "-f", "/f.sb", "x",     "",   " ", "-f", "--",
        "a\"b",          "\n", "\xff",  "-s=\\", "--", NULL};
    struct bs_sbpl_wrapped wrapped = BS_SBPL_WRAPPED_INIT;
    struct bs_error err = BS_ERROR_INIT;
    for (int i = BS_PROVIDER_NONE; i <= BS_PROVIDER_CLAUDE; i += BS_PROVIDER_CLAUDE) {
        struct bs_sbpl_command command = command_of(argv);
        command.provider = (enum bs_provider)i;
        assert_int_equal(bs_sbpl_wrap(&command, &wrapped, &err), BS_OK);
        assert_true(wrapped.active);
        assert_null(wrapped.warning);
        assert_argv(wrapped.argv, expected);
        bs_sbpl_wrapped_clear(&wrapped);
        bs_sbpl_wrapped_clear(&wrapped);
    }
}

static void the_provider_disables_its_own_sandbox(void **state) {
    (void)state;
    static const char *const argv[] = {"gemini", "-s", "-p", "hi", NULL};
    static const char *const expected[] = {
        BS_SBPL_WRAPPER, "-f", "/f.sb", "gemini", "-p", "hi", NULL};
    struct bs_sbpl_wrapped wrapped = BS_SBPL_WRAPPED_INIT;
    struct bs_sbpl_command command = command_of(argv);
    command.provider = BS_PROVIDER_GEMINI;
    assert_int_equal(bs_sbpl_wrap(&command, &wrapped, NULL), BS_OK);
    assert_argv(wrapped.argv, expected);
    bs_sbpl_wrapped_clear(&wrapped);
}

static void an_unwrapped_command_keeps_its_own_sandbox(void **state) {
    (void)state;
    static const char *const argv[] = {"codex", "-s", "read-only", NULL};
    struct bs_sbpl_wrapped wrapped = BS_SBPL_WRAPPED_INIT;
    struct bs_sbpl_command command = command_of(argv);
    command.provider = BS_PROVIDER_CODEX;
    command.wrapper = BS_WRAPPER_MISSING;
    command.allow_fallback = true;
    assert_int_equal(bs_sbpl_wrap(&command, &wrapped, NULL), BS_OK);
    assert_false(wrapped.active);
    assert_non_null(strstr(wrapped.warning, BS_SBPL_WRAPPER));
    assert_argv(wrapped.argv, argv);
    bs_sbpl_wrapped_clear(&wrapped);
}

static void a_program_is_never_read_as_an_option_of_the_wrapper(void **state) {
    (void)state;
    static const char *const programs[] = {"-p", "-f", "--", "-"};
    struct bs_sbpl_wrapped wrapped = BS_SBPL_WRAPPED_INIT;
    struct bs_error err = BS_ERROR_INIT;
    for (size_t i = 0; i < LENGTH(programs); i++) {
        const char *const argv[] = {programs[i], "(version 1)(allow default)", "/bin/sh", NULL};
        struct bs_sbpl_command command = command_of(argv);
        for (int j = BS_PROVIDER_NONE; j <= BS_PROVIDER_GEMINI; j++) {
            command.provider = (enum bs_provider)j;
            assert_int_equal(bs_sbpl_wrap(&command, &wrapped, &err), BS_E_INVALID);
            assert_non_null(strstr(err.message, programs[i]));
            assert_null(wrapped.argv);
        }
        command.wrapper = BS_WRAPPER_MISSING;
        command.allow_fallback = true;
        assert_int_equal(bs_sbpl_wrap(&command, &wrapped, &err), BS_OK);
        assert_argv(wrapped.argv, argv);
        bs_sbpl_wrapped_clear(&wrapped);
    }
}

static void a_command_that_cannot_be_wrapped_is_refused(void **state) {
    (void)state;
    static const char *const good[] = {"x", NULL};
    static const char *const none[] = {NULL};
    static const char *const empty[] = {"", "x", NULL};
    struct bs_sbpl_wrapped wrapped = BS_SBPL_WRAPPED_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_sbpl_command command = command_of(none);
    assert_int_equal(bs_sbpl_wrap(&command, &wrapped, &err), BS_E_INVALID);
    command = command_of(empty);
    assert_int_equal(bs_sbpl_wrap(&command, &wrapped, &err), BS_E_INVALID);
    assert_non_null(strstr(err.message, "no program"));
    command = command_of(good);
    command.file = "f.sb";
    assert_int_equal(bs_sbpl_wrap(&command, &wrapped, &err), BS_E_INVALID);
    assert_non_null(strstr(err.message, "`f.sb` is not absolute"));
    command = command_of(good);
    command.wrapper = BS_WRAPPER_MISSING;
    assert_int_equal(bs_sbpl_wrap(&command, &wrapped, &err), BS_E_EXECUTION);
    assert_non_null(strstr(err.message, BS_SBPL_WRAPPER));
    assert_null(wrapped.argv);
}

static void the_wrapper_is_a_program_at_its_own_path(void **state) {
    (void)state;
    static const char *const argv[] = {"x", NULL};
    static const struct {
        bool there;
        mode_t mode;
        bool executable;
        bool present;
    } rows[] = {{true, S_IFREG, true, true},
                {false, S_IFREG, true, false},
                {true, S_IFDIR, true, false},
                {true, S_IFREG, false, false}};
    /* The wrapper is missing. A program of its name in a directory of PATH must not be used
     * instead. */
    assert_int_equal(setenv("PATH", "/tmp/none:/bin", 1), 0);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bs_sbpl_wrapped wrapped = BS_SBPL_WRAPPED_INIT;
        struct bs_sbpl_command command = command_of(argv);
        wrapper.there = rows[i].there;
        wrapper.mode = rows[i].mode;
        wrapper.executable = rows[i].executable;
        wrapper.checked_path = BS_SBPL_WRAPPER;
        command.wrapper = BS_WRAPPER_LOOK;
        assert_int_equal(bs_sbpl_wrap(&command, &wrapped, NULL),
                         rows[i].present ? BS_OK : BS_E_EXECUTION);
        assert_string_equal(wrapper.checked_path, BS_SBPL_WRAPPER);
        assert_int_equal(wrapped.active, rows[i].present);
        bs_sbpl_wrapped_clear(&wrapped);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_argument_follows_the_wrapper),
        cmocka_unit_test(the_provider_disables_its_own_sandbox),
        cmocka_unit_test(an_unwrapped_command_keeps_its_own_sandbox),
        cmocka_unit_test(a_program_is_never_read_as_an_option_of_the_wrapper),
        cmocka_unit_test(a_command_that_cannot_be_wrapped_is_refused),
        cmocka_unit_test(the_wrapper_is_a_program_at_its_own_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
