/* Tests that a program cannot change the sandbox of the next run. Each run sets up the sandbox
 * again from file names, and programs can change what these names refer to. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/inside.h"
#include "support/profiles.h"
#include "support/shell.h"

/* True if the run gives a result. The exit status of the program does not matter. */
static bool run_line(struct inside *inside, const char *line) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_exec_request request = SHELL(line);
    int code = bs_session_run(inside->session, &request, &result, NULL);
    bs_exec_result_clear(&result);
    return code == BS_OK;
}

/* The files of the probe are checked too, because the probe also makes a plan, for its test
 * program. */
static void no_file_of_the_plan_is_in_the_root(void **state) {
    struct inside *inside = *state;
    struct stat before;
    struct stat after;
    (void)unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(setenv("TMPDIR", inside->root, 1), 0);
    assert_int_equal(stat(inside->root, &before), 0);
    open_session(inside);
    assert_true(run_line(inside, ":"));
    assert_int_equal(bs_session_close(inside->session, NULL), BS_OK);
    inside->session = NULL;
    (void)unsetenv("TMPDIR");
    assert_int_equal(stat(inside->root, &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
}

static void copy_launcher(const char *to) {
    char buffer[65536];
    int from = open(BOXSPEC_LAUNCH, O_RDONLY | O_CLOEXEC);
    int into = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    ssize_t n = 0;
    assert_true(from >= 0 && into >= 0);
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        assert_int_equal(write(into, buffer, (size_t)n), n);
    assert_int_equal(close(from) + close(into), 0);
}

static void a_replaced_launcher_is_not_started(void **state) {
    struct inside *inside = *state;
    char launcher[160];
    (void)snprintf(launcher, sizeof launcher, "%s/launch", inside->root);
    copy_launcher(launcher);
    inside->context.launcher = launcher;
    open_session(inside);
    assert_true(inside->report.n_warnings > 0);
    assert_true(run_line(inside, "printf '#!/bin/sh\\n: >%s/../out\\n' \"$PWD\" >fake; "
                                 "chmod 755 fake; mv -f fake launch"));
    assert_true(run_line(inside, ": >second"));
    assert_true(exists(inside, "ws/second"));
    assert_false(exists(inside, "out"));
}

/* If HOME lies in the root, a program could replace HOME/.cache by a link to any place. The grant
 * of the cache must not follow the link. */
static void a_cache_that_became_a_link_is_not_granted(void **state) {
    struct inside *inside = *state;
    char home[PATH_MAX];
    const char *before = getenv("HOME");
    (void)snprintf(home, sizeof home, "%s", before != NULL ? before : "");
    folder_add_folder(inside->folder, "ws/.cache");
    folder_add_folder(inside->folder, "out");
    assert_int_equal(setenv("HOME", inside->root, 1), 0);
    inside->context.confine = BS_CONFINE_FULL_DEV;
    open_session(inside);
    assert_true(run_line(inside, "rmdir .cache && ln -s ../out .cache && : >linked"));
    open_session(inside);
    (void)run_line(inside, "(: >../out/made); (: >.cache/made); : >again");
    assert_int_equal(before != NULL ? setenv("HOME", home, 1) : unsetenv("HOME"), 0);
    assert_true(exists(inside, "ws/linked") && exists(inside, "ws/again"));
    assert_false(exists(inside, "out/made"));
}

/* The paths that a policy grants are examined in prepare, but opened again for each run, so they
 * may have changed. */
static void a_granted_path_that_became_a_link_is_not_granted(void **state) {
    struct inside *inside = *state;
    char *made =
        policy_text("'fsProfiles': {'p': {'read': ['**'], 'modify': ['a/**', 'a/x/c/**']}}");
    /* On the stack: if the backend cannot start here, the test ends by longjmp, which would leak an
     * allocated block. */
    char text[256];
    (void)snprintf(text, sizeof text, "%s", made);
    free(made);
    const struct bs_backend_policy policy = {
        .global = {.data = text, .len = strlen(text), .format = BS_POLICY_JSON}, .profile = "p"};
    folder_add_folder(inside->folder, "ws/a");
    folder_add_folder(inside->folder, "ws/a/x");
    folder_add_folder(inside->folder, "ws/a/x/c");
    folder_add_folder(inside->folder, "out");
    folder_add_folder(inside->folder, "out/c");
    inside->context.policy = &policy;
    open_session(inside);
    (void)run_line(inside, "mv a/x a/y; ln -s ../../out a/x");
    (void)run_line(inside, "(: >../out/c/made); (: >a/x/c/made)");
    assert_false(exists(inside, "out/c/made"));
}

static void a_root_of_the_system_is_refused(void **state) {
    static const char *const roots[] = {"/", "/dev", "/proc", "/proc/self", "/sys", "/sys/kernel"};
    struct inside *inside = *state;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        struct bs_error err = BS_ERROR_INIT;
        inside->context.root = roots[i];
        assert_int_equal(bs_session_open(bs_backend_find(backend_name), &inside->context,
                                         BS_DEGRADE, NULL, &inside->session, &inside->report, &err),
                         BS_E_INVALID);
        assert_non_null(strstr(err.message, "is not a workspace"));
    }
    inside->context.root = "/dev/shm";
    open_session(inside);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        INSIDE(no_file_of_the_plan_is_in_the_root),
        INSIDE(a_replaced_launcher_is_not_started),
        INSIDE(a_cache_that_became_a_link_is_not_granted),
        INSIDE(a_granted_path_that_became_a_link_is_not_granted),
        INSIDE(a_root_of_the_system_is_refused),
    };
    return run_in_each_backend(tests, sizeof tests / sizeof *tests);
}
