#define _GNU_SOURCE
#include <boxspec/process.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/sys.h"
#include "exec/watch.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

/* if true, the spawn stops right after the child exists, as if the caller were stopped */
static bool stands_still;

void __real_bs_watch_start(struct bs_watch *watch, pid_t pid);
void __wrap_bs_watch_start(struct bs_watch *watch, pid_t pid);

void __wrap_bs_watch_start(struct bs_watch *watch, pid_t pid) {
    while (stands_still)
        (void)pause();
    __real_bs_watch_start(watch, pid);
}

/* if true, closing descriptors fails; no other call of a running watcher can fail */
static bool closes_nothing;

int __real_bs_close_from(int first, bool on_exec);
int __wrap_bs_close_from(int first, bool on_exec);

int __wrap_bs_close_from(int first, bool on_exec) {
    return closes_nothing ? EMFILE : __real_bs_close_from(first, on_exec);
}

static bool no_descriptors; /* if true, no descriptor is free, so /proc cannot be read */

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

DIR *__wrap_opendir(const char *path) {
    errno = EMFILE;
    return no_descriptors ? NULL : __real_opendir(path);
}

static bool no_close_range;

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (!no_close_range || number != SYS_close_range)
        return __real_syscall(number, a, b, c, d, e, f);
    errno = ENOSYS;
    return -1;
}

enum { HELD = 9, WITHIN_MS = 20000 };

static void bridge_to(const char *script) {
    struct bs_exec_request request = SHELL(script);
    struct bs_process_end end;
    request.stdin_mode = BS_STDIN_INHERIT;
    _exit(bs_process_bridge(&request, NULL, &end, NULL) == BS_OK ? end.number : 99);
}

/* Check that no process remains if the child kills its bridge before the bridge knows the child's
 * pid. */
static void assert_killed_at_once_leaves_nothing(void) {
    int ends[2];
    int status = 0;
    char got[8];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t bridge = fork();
    if (bridge == 0) {
        stands_still = true;
        (void)dup2(ends[1], HELD);
        bridge_to("echo ran >&9; kill -KILL $PPID; exec sleep 60");
    }
    bs_close(&ends[1]);
    assert_int_equal(BS_RETRY(waitpid(bridge, &status, 0)), bridge);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(BS_RETRY(read(ends[0], got, sizeof got)), 4);
    /* A surviving member of the group would hold the write end open. */
    struct pollfd entry = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(BS_RETRY(poll(&entry, 1, WITHIN_MS)), 1);
    assert_int_equal(BS_RETRY(read(ends[0], got, sizeof got)), 0);
    bs_close(&ends[0]);
}

static void a_bridge_that_is_killed_at_once_leaves_no_process(void **state) {
    (void)state;
    assert_killed_at_once_leaves_nothing();
}

static void the_watcher_works_on_an_older_kernel(void **state) {
    (void)state;
    no_close_range = true;
    assert_killed_at_once_leaves_nothing();
    no_close_range = false;
}

static void a_failed_start_leaves_no_process(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("exit 0");
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    request.stdin_mode = BS_STDIN_INHERIT;
    request.program = "/no/such/program";
    assert_int_equal(bs_process_bridge(&request, NULL, &end, &err), BS_E_EXECUTION);
    assert_int_equal(end.state, BS_PROCESS_RUNS);
}

/* No child may be started without a watcher, because the child could survive if the bridge is
 * killed. */
static void without_a_watcher_there_is_no_bridge(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("exit 0");
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    request.stdin_mode = BS_STDIN_INHERIT;
    closes_nothing = true;
    int code = bs_process_bridge(&request, NULL, &end, &err);
    closes_nothing = false;
    assert_int_equal(code, BS_E_EXECUTION);
    assert_string_equal(err.message, "failed to start the watcher: Too many open files");
    assert_int_equal(end.state, BS_PROCESS_RUNS);
}

/* The leader ends at once, while another member uses its grace period. */
static void members_that_cannot_be_listed_get_their_grace_period(void **state) {
    (void)state;
    int ends[2];
    char got[16] = "";
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t bridge = fork();
    if (bridge == 0) {
        no_descriptors = true;
        (void)dup2(ends[1], HELD);
        bridge_to("(trap 'sleep 0.3; echo grace >&9; exec sleep 60' TERM; echo r >&9; "
                  "while :; do sleep 0.05; done) & trap 'exit 0' TERM; wait");
    }
    bs_close(&ends[1]);
    assert_int_equal(BS_RETRY(read(ends[0], got, sizeof got - 1)), 2);
    assert_int_equal(kill(bridge, SIGTERM), 0);
    ssize_t n = (ssize_t)BS_RETRY(read(ends[0], got, sizeof got - 1));
    /* end the test without waiting for the rest of the grace period */
    (void)kill(bridge, SIGKILL);
    assert_int_equal(BS_RETRY(waitpid(bridge, NULL, 0)), bridge);
    assert_int_equal(n, 6);
    assert_string_equal(got, "grace\n");
    while (BS_RETRY(read(ends[0], got, sizeof got)) > 0) {
    }
    bs_close(&ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_bridge_that_is_killed_at_once_leaves_no_process),
        leaves_nothing(the_watcher_works_on_an_older_kernel),
        leaves_nothing(a_failed_start_leaves_no_process),
        leaves_nothing(members_that_cannot_be_listed_get_their_grace_period),
        leaves_nothing(without_a_watcher_there_is_no_bridge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
