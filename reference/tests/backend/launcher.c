/* Tests the launcher without a session. With a plan that cannot work it must report a failed start,
 * in time. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"
#include "support/holdings.h"

struct launch {
    char plan[128];
    const char *argv[8];
    uint64_t timeout_ms;
};

static int hand_over(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                     struct bs_error *err) {
    const struct launch *launch = ctx;
    (void)request;
    (void)err;
    *out = (struct bs_wrapped){.argv = launch->argv, .is_launcher = true};
    return BS_OK;
}

/* Write a plan. `text` has a newline for each NUL of the plan. The path of the plan is written to
 * `path`, which has room for 128 bytes. */
static void write_plan(const struct folder *folder, const char *text, char *path) {
    char bytes[512];
    size_t len = strlen(text);
    assert_true(len < sizeof bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(text[i] == '\n' ? '\0' : text[i]);
    (void)snprintf(path, 128, "%s/plan", folder->path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static int launch(const struct folder *folder, const char *text, uint64_t timeout_ms,
                  struct bs_exec_result *result, struct bs_error *err) {
    struct launch launch = {.timeout_ms = timeout_ms};
    write_plan(folder, text, launch.plan);
    const char *const argv[] = {BOXSPEC_LAUNCH, "--plan",    launch.plan, "--report",
                                "--",           "/bin/true", NULL};
    memcpy(launch.argv, argv, sizeof argv);
    const struct bs_sandbox sandbox = {&launch, NULL, hand_over, NULL};
    struct bs_exec_request request = {.program = "/bin/true", .sandbox = &sandbox};
    request.stdin_mode = BS_STDIN_NULL;
    request.timeout_ms = &launch.timeout_ms;
    return bs_exec_run(&request, result, err);
}

static void assert_refused(const struct folder *folder, const char *text, const char *words) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(launch(folder, text, 60000, &result, &err), BS_E_EXECUTION);
    assert_non_null(strstr(err.message, "failed to spawn `/bin/true`: sandbox: "));
    if (strstr(err.message, words) == NULL)
        fail_msg("%s", err.message);
    assert_false(has_children());
}

static void a_plan_that_is_not_understood_starts_nothing(void **state) {
    static const char *const plans[] = {"",
                                        "mode=other\nfs=1\n",
                                        "mode=landlock\n",
                                        "mode=landlock\nfs=0\n",
                                        "mode=landlock\nfs=2\nunknown=1\n",
                                        "mode=landlock\nfs=2x\n",
                                        "mode=landlock\nfs=-2\n",
                                        "mode=landlock\nfs=2\npath=2 relative\n",
                                        "mode=landlock\nfs=2\npath=2\n",
                                        "mode=landlock\nfs=2\nword\n",
                                        "mode=landlock\nfs=2", /* the last NUL is missing */
                                        "mode=bubblewrap\n",
                                        "mode=bubblewrap\narg=bwrap\nseal=proc\n",
                                        "mode=bubblewrap\narg=bwrap\nseal=/a\nseal=/b\n",
                                        "mode=bubblewrap\narg=bwrap\nseal=/a:name\n",
                                        "mode=bubblewrap\narg=bwrap\nfs=2\npath=2 a\n",
                                        "mode=bubblewrap\narg=bwrap\nfs=2\npath=x /a\n",
                                        "mode=bubblewrap\narg=bwrap\nchecked=a\n"};
    for (size_t i = 0; i < LENGTH(plans); i++)
        assert_refused(*state, plans[i], "its plan is not one");
}

static void what_bubblewrap_says_is_the_reason(void **state) {
    assert_refused(*state, "mode=bubblewrap\narg=/bin/ls\narg=--no-such-option\n",
                   "no-such-option");
    assert_refused(*state, "mode=bubblewrap\narg=/no/such/bwrap\n", "/no/such/bwrap");
    assert_refused(*state, "mode=bubblewrap\narg=/bin/true\n", "it ended before the program");
}

#define WRAPPED                                                                                    \
    "mode=bubblewrap\narg=/usr/bin/bwrap\narg=--unshare-all\narg=--as-pid-1\narg=--ro-bind\n"      \
    "arg=/\narg=/\narg=--proc\narg=/proc\narg=--cap-drop\narg=ALL\n"

/* Pid 1 makes /proc read-only before it drops its privileges. If that fails, it must not start the
 * program. */
static void what_cannot_be_sealed_starts_nothing(void **state) {
    const struct folder *folder = *state;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    if (access("/usr/bin/bwrap", X_OK) != 0 || launch(folder, WRAPPED, 60000, &result, &err) != 0)
        skip();
    bs_exec_result_clear(&result);
    assert_refused(folder, WRAPPED "seal=/proc\n", "mounts of its own");
    assert_refused(folder, WRAPPED "arg=--cap-add\narg=CAP_SYS_ADMIN\nseal=/proc/none\n",
                   "/proc/none");
}

/* Launch with one more mount, at or from a path in the folder, which is checked. */
static bool mounts_as_planned(const struct folder *folder, const char *option, const char *from,
                              const char *at) {
    char plan[4096];
    char source[1024] = "";
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    if (from != NULL)
        (void)snprintf(source, sizeof source, "arg=%s/%s\n", folder->path, from);
    (void)snprintf(plan, sizeof plan, WRAPPED "checked=%s\narg=%s\n%sarg=%s/%s\n", folder->path,
                   option, source, folder->path, at);
    int code = launch(folder, plan, 60000, &result, &err);
    bs_exec_result_clear(&result);
    if (code != BS_OK && strstr(err.message, "was replaced during the start") == NULL)
        fail_msg("%s", err.message);
    return code == BS_OK;
}

/* bubblewrap follows a link that replaced a directory after the planning. */
static void a_mount_through_a_link_starts_nothing(void **state) {
    const struct folder *folder = *state;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    if (access("/usr/bin/bwrap", X_OK) != 0 || launch(folder, WRAPPED, 60000, &result, &err) != 0)
        skip();
    bs_exec_result_clear(&result);
    assert_int_equal(mkdirat(folder->fd, "real", 0755), 0);
    assert_int_equal(mkdirat(folder->fd, "real/below", 0755), 0);
    assert_int_equal(mkdirat(folder->fd, "other", 0755), 0);
    assert_int_equal(symlinkat("real", folder->fd, "link"), 0);
    assert_true(mounts_as_planned(folder, "--bind", "real", "real"));
    assert_true(mounts_as_planned(folder, "--ro-bind", "real/below", "real/below"));
    assert_true(mounts_as_planned(folder, "--ro-bind", "other", "real/below"));
    assert_true(mounts_as_planned(folder, "--tmpfs", NULL, "real"));
    assert_false(mounts_as_planned(folder, "--bind", "link", "link"));
    assert_false(mounts_as_planned(folder, "--bind", "link", "real"));
    assert_false(mounts_as_planned(folder, "--bind", "real", "link"));
    assert_false(mounts_as_planned(folder, "--ro-bind", "link/below", "link/below"));
    assert_false(mounts_as_planned(folder, "--tmpfs", NULL, "link"));
}

/* A program in place of bubblewrap. It inherits SIGTERM blocked, as bubblewrap does. There is no
 * program in the sandbox at this time, so no process needs a grace period. */
static void a_bubblewrap_that_hangs_has_no_grace(void **state) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    const char *plan = "mode=bubblewrap\narg=/usr/bin/tail\narg=-f\narg=/dev/null\n";
    assert_int_equal(launch(*state, plan, 200, &result, &err), BS_OK);
    assert_int_equal(result.termination, BS_ENDED_TIMEOUT);
    assert_true(result.duration_ms < BS_EXEC_GRACE_MS);
    assert_false(has_children());
    bs_exec_result_clear(&result);
}

static void a_filter_that_is_none_starts_nothing(void **state) {
    assert_refused(*state, "mode=landlock\nfs=2\nfilter=/no/such/filter\n", "its filter");
    assert_refused(*state, "mode=landlock\nfs=2\nfilter=/dev/null\n", "its filter");
}

static void a_path_that_is_gone_starts_nothing(void **state) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    assert_refused(*state, "mode=landlock\nfs=2\npath=2 /no/such/path\n", "/no/such/path");
    if (access("/usr/bin/bwrap", X_OK) != 0 || launch(*state, WRAPPED, 60000, &result, NULL) != 0)
        skip();
    bs_exec_result_clear(&result);
    assert_refused(*state, WRAPPED "fs=2\npath=2 /proc\npath=2 /no/such/path\n", "/no/such/path");
}

static void quiet_launch(const char *plan, const char *made) {
    if (freopen("/dev/null", "r", stdin) != NULL && freopen("/dev/null", "w", stdout) != NULL &&
        freopen("/dev/null", "w", stderr) != NULL)
        (void)execl(BOXSPEC_LAUNCH, BOXSPEC_LAUNCH, "--plan", plan, "--", "/bin/touch", made, NULL);
    _exit(99);
}

/* Start the launcher while a SIGTERM is pending already. */
static void launch_asked_to_end(const char *plan, const char *made) {
    sigset_t term;
    int status = 0;
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        (void)sigemptyset(&term);
        (void)sigaddset(&term, SIGTERM);
        (void)sigprocmask(SIG_BLOCK, &term, NULL);
        (void)raise(SIGTERM);
        quiet_launch(plan, made);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 125);
}

static void who_asks_before_the_program_is_there_ends_it_before_it_is(void **state) {
    static const char *const plans[] = {"mode=landlock\nfs=1000\n",
                                        "mode=bubblewrap\narg=/usr/bin/tail\narg=-f\n"};
    const struct folder *folder = *state;
    char plan[128];
    char made[128];
    struct stat st;
    (void)snprintf(made, sizeof made, "%s/made", folder->path);
    for (size_t i = 0; i < LENGTH(plans); i++) {
        write_plan(folder, plans[i], plan);
        launch_asked_to_end(plan, made);
        assert_int_equal(stat(made, &st), -1);
        assert_false(has_children());
    }
}

static uint64_t in_ms(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_usec / 1000;
}

/* bubblewrap may end long after pid 1 has closed its pipes. Until then the launcher must sleep and
 * not poll. */
static void it_sleeps_while_bubblewrap_ends(void **state) {
    const char *text = "mode=bubblewrap\narg=/bin/sh\narg=-c\narg=exec 3>&-; exec sleep 0.5\n";
    struct rusage used;
    char plan[128];
    int status = 0;
    write_plan(*state, text, plan);
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        quiet_launch(plan, "/dev/null");
    assert_true(pid > 0);
    assert_int_equal(wait4(pid, &status, 0, &used), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 125); /* the exit status of a launch that failed */
    assert_in_range(in_ms(used.ru_utime) + in_ms(used.ru_stime), 0, 50);
}

/* Become the parent of a new namespace, start pid 1 in it, and end as it ends. The text stands for
 * the text that the launcher sends. */
static void start_pid_1(const char *text, size_t len, int out) {
    enum { STATUS = 3, PROGRAM, IN, OUT, ERR, HIGH = 50 };
    static const char mask[] = "0000000000000000000000000000000000000000000000000000000000000000";
    int ends[2];
    int status = 0;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (unshare((geteuid() != 0 ? CLONE_NEWUSER : 0) | CLONE_NEWPID) != 0)
        _exit(77);
    if (pipe(ends) != 0 || write(ends[1], text, len) != (ssize_t)len || close(ends[1]) != 0)
        _exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        const int fds[] = {null, ends[0], null, out, null};
        for (int i = 0; i < 5; i++)
            (void)dup2(fds[i], HIGH + i);
        for (int i = 0; i < 5; i++)
            (void)dup2(HIGH + i, STATUS + i);
        (void)execl(BOXSPEC_LAUNCH, BOXSPEC_LAUNCH, "--inside", "bare", "silent", "", mask, "/",
                    "0", (char *)NULL);
        _exit(1);
    }
    (void)waitpid(pid, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Return the exit status of pid 1, and in `output` the output of the program. */
static int run_pid_1(const char *text, size_t len, char *output, size_t size) {
    int ends[2];
    int status = 0;
    size_t got = 0;
    ssize_t n = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        start_pid_1(text, len, ends[1]);
    assert_true(pid > 0);
    (void)close(ends[1]);
    while (got + 1 < size && (n = read(ends[0], output + got, size - 1 - got)) > 0)
        got += (size_t)n;
    output[got] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* If the launcher is killed while it sends the program, pid 1 must not start it with a part of its
 * environment. */
static void a_program_that_was_not_sent_completely_is_not_started(void **state) {
    static const char sent[] = "1 2 0\0/usr/bin/env\0A=1\0B=2\0";
    char output[64];
    (void)state;
    int status = run_pid_1(sent, sizeof sent, output, sizeof output);
    if (status == 77)
        skip(); /* this host refuses namespaces */
    assert_string_equal(output, "A=1\nB=2\n");
    for (size_t len = 1; len < sizeof sent; len++) {
        assert_int_not_equal(run_pid_1(sent, len, output, sizeof output), 0);
        assert_string_equal(output, "");
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_plan_that_is_not_understood_starts_nothing),
        IN_FOLDER(what_bubblewrap_says_is_the_reason),
        IN_FOLDER(what_cannot_be_sealed_starts_nothing),
        IN_FOLDER(a_mount_through_a_link_starts_nothing),
        IN_FOLDER(a_bubblewrap_that_hangs_has_no_grace),
        IN_FOLDER(a_filter_that_is_none_starts_nothing),
        IN_FOLDER(a_path_that_is_gone_starts_nothing),
        IN_FOLDER(who_asks_before_the_program_is_there_ends_it_before_it_is),
        IN_FOLDER(it_sleeps_while_bubblewrap_ends),
        cmocka_unit_test(a_program_that_was_not_sent_completely_is_not_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
