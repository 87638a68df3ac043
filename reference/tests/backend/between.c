/* What a program of one run could do to the next: the sandbox is made again from names that it may
 * write to. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"
#include "support/shell.h"

struct ground {
    struct folder *folder;
    char root[128];
    struct bs_backend_context context;
    struct bs_backend_report report;
    struct bs_session *session;
};

static const char *backend_name;

static int setup(void **state) {
    struct ground *ground = calloc(1, sizeof *ground);
    void *folder = NULL;
    if (ground == NULL || folder_setup(&folder) != 0) {
        free(ground);
        return -1;
    }
    ground->folder = folder;
    folder_add_folder(folder, "ws");
    (void)snprintf(ground->root, sizeof ground->root, "%s/ws", ground->folder->path);
    ground->context = (struct bs_backend_context)BS_BACKEND_CONTEXT_INIT;
    ground->context.root = ground->root;
    ground->context.launcher = BOXSPEC_LAUNCH;
    ground->report = (struct bs_backend_report)BS_BACKEND_REPORT_INIT;
    *state = ground;
    return 0;
}

static int teardown(void **state) {
    struct ground *ground = *state;
    void *folder = ground->folder;
    int code = bs_session_close(ground->session, NULL);
    bs_backend_report_clear(&ground->report);
    free(ground);
    (void)unsetenv("TMPDIR");
    return folder_teardown(&folder) == 0 && code == BS_OK ? 0 : -1;
}

static void open_session(struct ground *ground) {
    struct bs_error err = BS_ERROR_INIT;
    (void)bs_session_close(ground->session, NULL);
    ground->session = NULL;
    if (bs_session_open(bs_backend_find(backend_name), &ground->context, BS_DEGRADE, NULL,
                        &ground->session, &ground->report, &err) != BS_OK)
        fail_msg("%s", err.message);
    if (bs_session_enforcement(ground->session) == BS_CLAIM_UNAVAILABLE)
        skip();
}

/* Whether there was a result; how its program ended is not asked. */
static bool run_line(struct ground *ground, const char *line) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_exec_request request = SHELL(line);
    int code = bs_session_run(ground->session, &request, &result, NULL);
    bs_exec_result_clear(&result);
    return code == BS_OK;
}

static bool exists(const struct ground *ground, const char *name) {
    struct stat st;
    return fstatat(ground->folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The plan of the positive control is one as well. */
static void no_plan_lies_in_the_root(void **state) {
    struct ground *ground = *state;
    struct stat before;
    struct stat behind;
    (void)unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(setenv("TMPDIR", ground->root, 1), 0);
    assert_int_equal(stat(ground->root, &before), 0);
    open_session(ground);
    assert_true(run_line(ground, ":"));
    assert_int_equal(bs_session_close(ground->session, NULL), BS_OK);
    ground->session = NULL;
    assert_int_equal(stat(ground->root, &behind), 0);
    assert_memory_equal(&before.st_mtim, &behind.st_mtim, sizeof before.st_mtim);
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

static void a_launcher_that_is_exchanged_is_not_started(void **state) {
    struct ground *ground = *state;
    char launcher[160];
    (void)snprintf(launcher, sizeof launcher, "%s/launch", ground->root);
    copy_launcher(launcher);
    ground->context.launcher = launcher;
    open_session(ground);
    assert_true(ground->report.n_warnings > 0);
    assert_true(run_line(ground, "printf '#!/bin/sh\\n: >%s/../out\\n' \"$PWD\" >fake; "
                                 "chmod 755 fake; mv -f fake launch"));
    assert_true(run_line(ground, ": >second"));
    assert_true(exists(ground, "ws/second"));
    assert_false(exists(ground, "out"));
}

/* With a root that holds HOME, a program could make what is granted beside it a link to anywhere.
 */
static void a_cache_that_became_a_link_is_not_granted(void **state) {
    struct ground *ground = *state;
    char home[PATH_MAX];
    const char *before = getenv("HOME");
    (void)snprintf(home, sizeof home, "%s", before != NULL ? before : "");
    folder_add_folder(ground->folder, "ws/.cache");
    folder_add_folder(ground->folder, "out");
    assert_int_equal(setenv("HOME", ground->root, 1), 0);
    ground->context.confine = BS_CONFINE_FULL_DEV;
    open_session(ground);
    assert_true(run_line(ground, "rmdir .cache && ln -s ../out .cache && : >linked"));
    open_session(ground);
    (void)run_line(ground, "(: >../out/made); (: >.cache/made); : >again");
    assert_int_equal(before != NULL ? setenv("HOME", home, 1) : unsetenv("HOME"), 0);
    assert_true(exists(ground, "ws/linked") && exists(ground, "ws/again"));
    assert_false(exists(ground, "out/made"));
}

/* What a policy grants by name was looked at in prepare, and is opened for each run. */
static void a_grant_that_became_a_link_is_none(void **state) {
    static const char text[] =
        "{\"schemaVersion\": 2, \"kind\": \"Policy\", \"metadata\": {\"name\": \"p\"}, "
        "\"spec\": {\"fsProfiles\": {\"p\": {\"read\": [\"**\"], "
        "\"modify\": [\"a/**\", \"a/x/c/**\"]}}}}";
    struct ground *ground = *state;
    const struct bs_backend_policy policy = {
        .global = {.data = text, .len = sizeof text - 1, .format = BS_POLICY_JSON}, .profile = "p"};
    folder_add_folder(ground->folder, "ws/a");
    folder_add_folder(ground->folder, "ws/a/x");
    folder_add_folder(ground->folder, "ws/a/x/c");
    folder_add_folder(ground->folder, "out");
    folder_add_folder(ground->folder, "out/c");
    ground->context.policy = &policy;
    open_session(ground);
    (void)run_line(ground, "mv a/x a/y; ln -s ../../out a/x");
    (void)run_line(ground, "(: >../out/c/made); (: >a/x/c/made)");
    assert_false(exists(ground, "out/c/made"));
}

static void what_is_the_kernel_s_is_no_workspace(void **state) {
    static const char *const roots[] = {"/", "/dev", "/proc", "/proc/self", "/sys", "/sys/kernel"};
    struct ground *ground = *state;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        struct bs_error err = BS_ERROR_INIT;
        ground->context.root = roots[i];
        assert_int_equal(bs_session_open(bs_backend_find(backend_name), &ground->context,
                                         BS_DEGRADE, NULL, &ground->session, &ground->report, &err),
                         BS_E_INVALID);
        assert_non_null(strstr(err.message, "is no workspace"));
    }
    ground->context.root = "/dev/shm";
    open_session(ground);
}

#define BETWEEN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        BETWEEN(no_plan_lies_in_the_root),
        BETWEEN(a_launcher_that_is_exchanged_is_not_started),
        BETWEEN(a_cache_that_became_a_link_is_not_granted),
        BETWEEN(a_grant_that_became_a_link_is_none),
        BETWEEN(what_is_the_kernel_s_is_no_workspace),
    };
    int failed = 0;
    for (size_t i = 1; bs_backend_at(i) != NULL; i++) {
        backend_name = bs_backend_at(i)->name;
        failed += cmocka_run_group_tests_name(backend_name, tests, NULL, NULL);
    }
    return failed;
}
