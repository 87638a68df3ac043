/* Runs programs in each backend of this host, and checks which processes and files remain. A
 * backend that cannot start on this host is skipped, with its name. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/inside.h"
#include "support/shell.h"

#define MAKE_QUEUE "make-queue"
static char this_program[PATH_MAX];

static struct bs_exec_result run_inside(struct inside *inside,
                                        const struct bs_exec_request *request) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    if (bs_session_run(inside->session, request, &result, &err) != BS_OK)
        fail_msg("%s", err.message);
    return result;
}

int __real_lstat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st);

static int fail_lstat; /* an errno, or 0 if lstat succeeds */

int __wrap_lstat(const char *path, struct stat *st) {
    errno = fail_lstat;
    return fail_lstat != 0 ? -1 : __real_lstat(path, st);
}

/* A probe runs a test program, and then checks that no file outside was written. If this check
 * itself fails, the probe must fail too. */
static void a_control_that_cannot_check_proves_nothing(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    fail_lstat = ELOOP;
    int code = bs_backend_probe(bs_backend_find(backend_name), &inside->context, -1, &report, NULL);
    fail_lstat = 0;
    enum bs_claim claim = report.overall;
    bool is_said = report.aspects[BS_ASPECT_FS_WRITE].n_reasons > 0 &&
                   strstr(report.aspects[BS_ASPECT_FS_WRITE].reasons[0], "outside: ") != NULL;
    bs_backend_report_clear(&report);
    assert_int_equal(code, BS_OK);
    assert_int_equal(claim, BS_CLAIM_UNAVAILABLE);
    assert_true(is_said);
}

static void only_the_workspace_is_writable(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    struct bs_exec_request request = SHELL(": >in; (: >../out) 2>/dev/null; pwd; exit 7");
    struct bs_exec_result result = run_inside(inside, &request);
    char expected[160];
    (void)snprintf(expected, sizeof expected, "%s\n", inside->root);
    assert_int_equal(result.exit_code, 7);
    assert_text(&result.out, expected);
    assert_true(exists(inside, "ws/in"));
    assert_false(exists(inside, "out"));
    bs_exec_result_clear(&result);
}

/* Bytes that are written to a pipe outside must not reach its reader, or the report must say so
 * before the run. The pipe is in a place where no sandbox has a private directory. */
static void a_write_to_a_pipe_outside_fails_or_is_reported(void **state) {
    struct inside *inside = *state;
    char byte = 0;
    char pipe[64];
    char script[160];
    (void)snprintf(pipe, sizeof pipe, "/var/tmp/boxspec-pipe-%d", getpid());
    (void)snprintf(script, sizeof script,
                   "(echo >%s) 2>/dev/null; mkfifo own; cat own & echo yes >own; wait", pipe);
    open_session(inside);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    int reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct bs_exec_request request = SHELL(script);
    struct bs_exec_result result = run_inside(inside, &request);
    assert_int_equal(unlink(pipe), 0);
    bool came = read(reader, &byte, 1) == 1;
    bool is_said = false;
    const struct bs_aspect_claim *ipc = &inside->report.aspects[BS_ASPECT_IPC];
    for (size_t i = 0; i < ipc->n_reasons; i++)
        is_said = is_said || strstr(ipc->reasons[i], "named pipes") != NULL;
    (void)close(reader);
    assert_text(&result.out, "yes\n");
    bs_exec_result_clear(&result);
    assert_int_equal(came, is_said);
}

static void files_move_between_directories(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    struct bs_exec_request request =
        SHELL("mkdir a b && : >a/f && mv a/f b && ln b/f a/g && mv b a/c && echo a/* a/c/*");
    struct bs_exec_result result = run_inside(inside, &request);
    assert_text(&result.out, "a/c a/g a/c/f\n");
    bs_exec_result_clear(&result);
}

/* This test program is also the program that runs in the sandbox. */
static int make_queue(void) {
    mqd_t queue = mq_open("/boxspec-inside", O_RDWR | O_CREAT | O_EXCL, 0600, NULL);
    return queue == (mqd_t)-1 ? errno : 0;
}

/* An IPC namespace has its own message queues. The rules for named pipes must not refuse access to
 * them. */
static void a_namespace_has_its_own_queues(void **state) {
    struct inside *inside = *state;
    const char *const argument = MAKE_QUEUE;
    if (strncmp(backend_name, "bubblewrap", 10) != 0 || access("/proc/sys/fs/mqueue", F_OK) != 0)
        skip();
    /* The build tree may lie below /tmp, which the sandbox replaces by a private directory. */
    const char *const readable[] = {this_program};
    inside->context.readable = readable;
    inside->context.n_readable = 1;
    open_session(inside);
    struct bs_exec_request request = {.program = this_program, .args = &argument, .n_args = 1};
    struct bs_exec_result result = run_inside(inside, &request);
    assert_int_equal(result.exit_code, 0);
    assert_text(&result.err, "");
    bs_exec_result_clear(&result);
}

static void read_only_allows_writes_only_to_the_scratch(void **state) {
    struct inside *inside = *state;
    inside->context.confine = BS_CONFINE_READ_ONLY;
    open_session(inside);
    struct bs_exec_request request = SHELL("(: >in) 2>/dev/null; : >\"$TMPDIR/t\" && echo yes");
    struct bs_exec_result result = run_inside(inside, &request);
    assert_text(&result.out, "yes\n");
    assert_false(exists(inside, "ws/in"));
    bs_exec_result_clear(&result);
}

static void a_missing_program_is_a_failed_spawn(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    static const char payload[256 * 1024];
    struct bs_exec_request request = {.program = "/no/such/program"};
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    /* the script does not read the payload, which must not cause an error here */
    request.stdin_mode = BS_STDIN_BYTES;
    request.stdin_data = payload;
    request.stdin_len = sizeof payload;
    assert_int_equal(bs_session_run(inside->session, &request, &result, &err), BS_E_EXECUTION);
    assert_int_equal(err.os_error, ENOENT);
    assert_string_equal(err.message,
                        "failed to spawn `/no/such/program`: No such file or directory");
}

static void the_signal_that_ended_the_program_is_reported(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    struct bs_exec_request request = SHELL("kill -KILL $$");
    struct bs_exec_result result = run_inside(inside, &request);
    assert_int_equal(result.termination, BS_ENDED_SIGNAL);
    assert_int_equal(result.signal, SIGKILL);
    bs_exec_result_clear(&result);
}

/* The program opens the named pipe when its trap is set, so this test needs no sleep. */
static void a_deadline_gives_the_program_its_grace(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    uint64_t timeout_ms = 500;
    struct bs_exec_request request =
        SHELL("trap 'echo grace; exit 0' TERM; echo ready; while :; do sleep 1; done");
    request.timeout_ms = &timeout_ms;
    struct bs_exec_result result = run_inside(inside, &request);
    assert_int_equal(result.termination, BS_ENDED_TIMEOUT);
    assert_text(&result.out, "ready\ngrace\n");
    bs_exec_result_clear(&result);
}

/* The daemon holds the write end of a named pipe in the workspace, so reading the pipe ends when
 * the daemon ends. */
static void a_daemon_does_not_outlive_its_run(void **state) {
    struct inside *inside = *state;
    char fifo[160];
    open_session(inside);
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", inside->root);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    struct bs_exec_request request =
        SHELL("mkfifo sync; setsid sh -c 'exec >fifo; echo >sync; exec sleep 1000' </dev/null "
              "2>/dev/null >/dev/null & read x <sync");
    struct bs_exec_result result = run_inside(inside, &request);
    assert_true(result.success);
    char text[1];
    /* while there is a writer, read would fail with EAGAIN */
    assert_int_equal(read(fd, text, sizeof text), 0);
    (void)close(fd);
    bs_exec_result_clear(&result);
}

/* While the program, and its child outside the group, run, they are writers of the named pipe. */
static void no_process_outlives_a_killed_caller(void **state) {
    struct inside *inside = *state;
    char fifo[160];
    char text[2] = "";
    open_session(inside);
    (void)snprintf(fifo, sizeof fifo, "%s/held", inside->root);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int held = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(held >= 0);
    struct bs_exec_request request =
        SHELL("exec 9>held; setsid sh -c 'echo >&9; exec sleep 1000' & exec sleep 1000");
    pid_t caller = fork();
    if (caller == 0) {
        struct bs_exec_result result = BS_EXEC_RESULT_INIT;
        (void)bs_session_run(inside->session, &request, &result, NULL);
        _exit(1);
    }
    assert_true(caller > 0);
    struct pollfd wait = {held, POLLIN, 0};
    assert_int_equal(poll(&wait, 1, 20000), 1);
    assert_int_equal(read(held, text, 1), 1);
    assert_int_equal(kill(caller, SIGKILL), 0);
    assert_int_equal(waitpid(caller, NULL, 0), caller);
    assert_int_equal(poll(&wait, 1, 20000), 1);
    assert_int_equal(read(held, text, 1), 0);
    assert_int_equal(close(held), 0);
}

static void no_descriptor_above_2_is_inherited(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    /* a descriptor without close-on-exec, which a child inherits */
    int fd = open("/", O_RDONLY | O_DIRECTORY);
    struct bs_exec_request request =
        SHELL("for fd in /proc/$$/fd/*; do case $fd in */[012]) ;; *) readlink $fd;; esac; done");
    struct bs_exec_result result = run_inside(inside, &request);
    (void)close(fd);
    /* The script is an argument of the shell and not a file, so all descriptors that the shell
     * lists were inherited. */
    assert_text(&result.out, "");
    bs_exec_result_clear(&result);
}

static void a_directory_as_stdin_is_refused(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    struct bs_exec_request request = {.program = "true"};
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(dup2(dir, 0), 0);
    int code = bs_session_run(inside->session, &request, &result, &err);
    if (saved >= 0)
        (void)dup2(saved, 0);
    (void)close(dir);
    (void)close(saved);
    assert_int_equal(code, BS_E_EXECUTION);
    assert_non_null(strstr(err.message, "standard input or output"));
}

/* /proc/self/mem is a regular file, but reading it at offset 0 fails. If this looked like
 * end-of-file, the program would use an incomplete input. */
static void an_unreadable_file_as_stdin_is_an_error_and_not_end_of_file(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    struct bs_exec_request request = SHELL("cat; : >taken");
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    assert_int_equal(dup2(memory, 0), 0);
    request.stdin_mode = BS_STDIN_INHERIT;
    int code = bs_session_run(inside->session, &request, &result, &err);
    if (saved >= 0)
        (void)dup2(saved, 0);
    (void)close(memory);
    (void)close(saved);
    bs_exec_result_clear(&result);
    assert_false(exists(inside, "ws/taken"));
    assert_int_equal(code, BS_E_EXECUTION);
    assert_int_equal(err.os_error, EIO);
    assert_non_null(strstr(err.message, "standard input or output: the input cannot be read"));
}

static void inherit_passes_on_only_the_listed_variables(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    assert_int_equal(setenv("BOXSPEC_UNIT_SECRET", "1", 1), 0);
    assert_int_equal(setenv("LC_TIME", "C", 1), 0);
    assert_int_equal(setenv("LC_NOSUCH", "C", 1), 0);
    struct bs_exec_request request =
        SHELL("echo $LC_TIME-$LC_NOSUCH-$BOXSPEC_UNIT_SECRET; : >\"$TMPDIR/x\"");
    struct bs_exec_result result = run_inside(inside, &request);
    (void)unsetenv("BOXSPEC_UNIT_SECRET");
    (void)unsetenv("LC_TIME");
    (void)unsetenv("LC_NOSUCH");
    assert_text(&result.out, "C--\n");
    assert_true(result.success);
    bs_exec_result_clear(&result);
}

static void a_preload_for_the_program_does_not_affect_the_launcher(void **state) {
    struct inside *inside = *state;
    open_session(inside);
    const struct bs_env_pair env[] = {{"PATH", "/usr/bin:/bin"}, {"LD_DEBUG", "statistics"}};
    struct bs_exec_request request = SHELL("exit 0");
    request.env_mode = BS_ENV_CLEAR_AND_SET;
    request.env = env;
    request.n_env = LENGTH(env);
    struct bs_exec_result result = run_inside(inside, &request);
    unsigned speakers = 0; /* number of dynamic linkers that used the variable */
    for (const char *at = result.err.data; at != NULL && (at = strstr(at, "total startup time"));
         at++)
        speakers++;
    assert_int_equal(speakers, 1);
    bs_exec_result_clear(&result);
}

static void a_closed_session_leaves_no_directory(void **state) {
    struct inside *inside = *state;
    struct folder *temporary = NULL;
    void *made = NULL;
    assert_int_equal(folder_setup(&made), 0);
    temporary = made;
    (void)unsetenv("XDG_RUNTIME_DIR");
    assert_int_equal(setenv("TMPDIR", temporary->path, 1), 0);
    open_session(inside);
    struct bs_exec_request request = SHELL("mkdir -p \"$TMPDIR/a/b\"; chmod 0 \"$TMPDIR/a\"");
    struct bs_exec_result result = run_inside(inside, &request);
    bs_exec_result_clear(&result);
    assert_int_equal(bs_session_close(inside->session, NULL), BS_OK);
    inside->session = NULL;
    (void)unsetenv("TMPDIR");
    assert_int_equal(rmdir(temporary->path), 0); /* rmdir succeeds only if the directory is empty */
    (void)close(temporary->fd);
    free(temporary);
}

static void what_a_program_leaves_of_a_file_on_stdin_is_there_for_the_next(void **state) {
    static const char *const expected[] = {"one\n", "two\n"};
    struct inside *inside = *state;
    open_session(inside);
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
    FILE *file = tmpfile();
    assert_true(file != NULL && fputs("one\ntwo\nthree\n", file) >= 0 && fflush(file) == 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    assert_int_equal(dup2(fileno(file), 0), 0);
    for (int i = 0; i < 2; i++) {
        struct bs_exec_request request = SHELL("read -r line; echo $line");
        request.stdin_mode = BS_STDIN_INHERIT;
        struct bs_exec_result result = run_inside(inside, &request);
        assert_text(&result.out, expected[i]);
        bs_exec_result_clear(&result);
    }
    (void)dup2(saved, 0);
    (void)close(saved);
    (void)fclose(file);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], MAKE_QUEUE) == 0)
        return make_queue();
    assert_true(readlink("/proc/self/exe", this_program, sizeof this_program - 1) > 0);
    const struct CMUnitTest tests[] = {
        INSIDE(a_control_that_cannot_check_proves_nothing),
        INSIDE(only_the_workspace_is_writable),
        INSIDE(a_write_to_a_pipe_outside_fails_or_is_reported),
        INSIDE(files_move_between_directories),
        INSIDE(a_namespace_has_its_own_queues),
        INSIDE(read_only_allows_writes_only_to_the_scratch),
        INSIDE(a_missing_program_is_a_failed_spawn),
        INSIDE(the_signal_that_ended_the_program_is_reported),
        INSIDE(a_deadline_gives_the_program_its_grace),
        INSIDE(a_daemon_does_not_outlive_its_run),
        INSIDE(no_descriptor_above_2_is_inherited),
        INSIDE(a_directory_as_stdin_is_refused),
        INSIDE(an_unreadable_file_as_stdin_is_an_error_and_not_end_of_file),
        INSIDE(what_a_program_leaves_of_a_file_on_stdin_is_there_for_the_next),
        INSIDE(inherit_passes_on_only_the_listed_variables),
        INSIDE(a_preload_for_the_program_does_not_affect_the_launcher),
        INSIDE(a_closed_session_leaves_no_directory),
        INSIDE(no_process_outlives_a_killed_caller),
    };
    return run_in_each_backend(tests, sizeof tests / sizeof *tests);
}
