/* Tests that a group is signalled before its leader is reaped, and that no signal is sent to a pid
 * after its process was reaped (EXEC-KILL-14). Signals and reaps of the library are recorded, for
 * all ways in which a run can end. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

int __real_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo);
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
uint64_t __real_bs_after_ms(uint64_t start_ns, uint64_t ms);
uint64_t __wrap_bs_after_ms(uint64_t start_ns, uint64_t ms);

static struct event {
    bool reap;
    pid_t pid; /* the pid that was signalled or reaped */
    int signo;
} events[4096];
static size_t n_events;

static void note(bool reap, pid_t pid, int signo) {
    if (n_events < LENGTH(events))
        events[n_events] = (struct event){reap, pid, signo};
    n_events++;
}

int __wrap_kill(pid_t pid, int signo) {
    note(false, pid, signo);
    return __real_kill(pid, signo);
}

static void note_reap(long rc, const siginfo_t *info, int options) {
    int saved = errno;
    if (rc == 0 && (options & WNOWAIT) == 0 && info->si_pid != 0)
        note(true, info->si_pid, 0);
    errno = saved;
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
    info->si_pid = 0;
    int rc = __real_waitid(type, id, info, options);
    note_reap(rc, info, options);
    return rc;
}

/* Always pass on six arguments, although some calls have fewer. The function of the C library does
 * the same. */
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    long rc = __real_syscall(number, a, b, c, d, e, f);
    if (number == SYS_waitid)
        note_reap(rc, (const siginfo_t *)(uintptr_t)c, (int)d);
    return rc;
}

/* Shorten only the grace period, which is 5 s. */
uint64_t __wrap_bs_after_ms(uint64_t start_ns, uint64_t ms) {
    return __real_bs_after_ms(start_ns, ms == BS_EXEC_GRACE_MS ? 100 : ms);
}

/* Check the order of the events. The first process that the library reaps is the leader. Orphans of
 * its group may follow. */
static void assert_order(void) {
    assert_in_range(n_events, 1, LENGTH(events));
    pid_t group = 0;
    for (size_t i = 0; i < n_events; i++) {
        if (!events[i].reap && events[i].pid < 0)
            group = -events[i].pid;
    }
    assert_true(group > 1);
    assert_int_not_equal(group, getpgrp());
    bool signalled = false;
    bool reaped = false;
    for (size_t i = 0; i < n_events; i++) {
        const struct event *event = &events[i];
        if (event->reap) {
            if (event->pid == group) {
                assert_true(signalled);
                assert_false(reaped);
                reaped = true;
            }
            continue;
        }
        assert_int_equal(event->pid, -group);
        if (reaped)
            assert_int_equal(event->signo, 0);
        else if (event->signo != 0)
            signalled = true;
    }
    assert_true(reaped);
}

static unsigned sent(int signo) {
    unsigned n = 0;
    for (size_t i = 0; i < n_events; i++)
        n += !events[i].reap && events[i].signo == signo;
    return n;
}

static struct bs_exec_result traced(const struct bs_exec_request *request) {
    n_events = 0;
    struct bs_exec_result result = run_to_result(request);
    assert_order();
    assert_int_equal(result.group_left, 0);
    return result;
}

static void a_normal_exit(void **state) {
    (void)state;
    static const char *const scripts[] = {
        "exit 0",
        "exit 3",
        "kill -TERM $$",
        "kill -KILL $$",
        "exec >&- 2>&-; exit 1",
        "sleep 60 >/dev/null 2>&1 & exit 0",
        "trap '' TERM; sleep 60 >/dev/null 2>&1 & sleep 60 >/dev/null 2>&1 & kill -KILL $$"};
    for (size_t i = 0; i < LENGTH(scripts); i++) {
        struct bs_exec_request request = SHELL(scripts[i]);
        struct bs_exec_result result = traced(&request);
        assert_true(result.termination == BS_ENDED_EXIT || result.termination == BS_ENDED_SIGNAL);
        assert_int_equal(sent(SIGTERM), 0);
        assert_true(sent(SIGKILL) >= 1);
        bs_exec_result_clear(&result);
    }
}

static void adopted_orphans_are_reaped_by_pid(void **state) {
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    struct bs_exec_request request =
        SHELL("(sleep 60 & sleep 60 &) >/dev/null 2>&1; sleep 60 >/dev/null 2>&1 & exit 0");
    struct bs_exec_result result = traced(&request);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
    assert_true(result.success);
    bs_exec_result_clear(&result);
}

static void a_deadline(void **state) {
    (void)state;
    static const uint64_t timeouts[] = {0, 1, 5, 20};
    for (size_t i = 0; i < LENGTH(timeouts); i++) {
        struct bs_exec_request request = SHELL("sleep 60 & sleep 60");
        request.timeout_ms = &timeouts[i];
        struct bs_exec_result result = traced(&request);
        assert_int_equal(result.termination, BS_ENDED_TIMEOUT);
        assert_int_equal(sent(SIGTERM), 1);
        assert_int_equal(sent(SIGCONT), 1);
        bs_exec_result_clear(&result);
    }
}

static void cancel(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)stream;
    (void)data;
    (void)len;
    (void)!write(*(const int *)ctx, "x", 1);
}

/* Cancel the run at its first output, because the script is then in the wanted state. */
static struct bs_exec_result cancelled(const char *script) {
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct bs_exec_request request = SHELL(script);
    request.cancel_fd = &ends[0];
    request.on_output = cancel;
    request.on_output_ctx = &ends[1];
    struct bs_exec_result result = traced(&request);
    assert_int_equal(result.termination, BS_ENDED_CANCEL);
    assert_int_equal(sent(SIGTERM), 1);
    bs_close(&ends[0]);
    bs_close(&ends[1]);
    return result;
}

static void a_cancel(void **state) {
    (void)state;
    struct bs_exec_result result = cancelled("echo ready; exec sleep 60");
    bs_exec_result_clear(&result);
}

static void a_group_that_ignores_the_first_signal(void **state) {
    (void)state;
    struct bs_exec_result result =
        cancelled("trap '' TERM; sleep 60 & echo ready; while :; do sleep 60; done");
    assert_true(sent(SIGKILL) >= 1);
    bs_exec_result_clear(&result);
}

static void a_member_that_outlives_its_leader(void **state) {
    (void)state;
    struct bs_exec_result result = cancelled(
        "(trap '' TERM; echo ready; exec sleep 60) & trap 'exit 0' TERM; while :; do wait; done");
    assert_true(sent(SIGKILL) >= 1);
    bs_exec_result_clear(&result);
}

static void a_stopped_child(void **state) {
    (void)state;
    struct bs_exec_result result = cancelled("echo ready; kill -STOP $$; exec sleep 60");
    bs_exec_result_clear(&result);
}

static void too_much_output(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("sleep 60 & echo too much; sleep 60");
    request.max_output_bytes = &(const uint64_t){3};
    struct bs_exec_result result = traced(&request);
    assert_int_equal(result.termination, BS_ENDED_CAP);
    assert_int_equal(sent(SIGTERM), 0);
    bs_exec_result_clear(&result);
}

static void interrupt(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)ctx;
    (void)stream;
    (void)data;
    (void)len;
    (void)raise(SIGINT);
}

static void a_signal_of_the_parent(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("echo ready; exec sleep 60");
    request.on_output = interrupt;
    struct bs_exec_result result = traced(&request);
    assert_int_equal(result.termination, BS_ENDED_PARENT_SIGNAL);
    assert_int_equal(sent(SIGINT), 1);
    assert_int_equal(sent(SIGTERM), 0);
    bs_exec_result_clear(&result);
}

static void a_payload_that_is_not_read(void **state) {
    (void)state;
    static char payload[512 * 1024];
    struct bs_exec_request request = SHELL("exec <&-; exec sleep 60");
    request.stdin_mode = BS_STDIN_BYTES;
    request.stdin_data = payload;
    request.stdin_len = sizeof payload;
    n_events = 0;
    (void)run_to_error(&request, BS_E_EXECUTION);
    assert_order();
    assert_int_equal(sent(SIGTERM), 1);
}

static void steal(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)stream;
    (void)data;
    (void)len;
    siginfo_t info;
    pid_t *stolen = ctx;
    if (BS_RETRY(waitid(P_ALL, 0, &info, WEXITED)) == 0)
        *stolen = info.si_pid;
}

static void a_leader_that_was_reaped_elsewhere_is_not_signalled(void **state) {
    (void)state;
    pid_t stolen = 0;
    struct bs_exec_request request = SHELL("sleep 60 >/dev/null 2>&1 & echo gone; exit 0");
    request.on_output = steal;
    request.on_output_ctx = &stolen;
    n_events = 0;
    struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
    assert_non_null(strstr(err.message, "wait timeout error"));
    assert_int_equal(err.os_error, ECHILD);
    assert_true(stolen > 0);
    for (size_t i = 0; i < n_events; i++)
        assert_true(events[i].reap || events[i].signo == 0);
    /* If the kernel cannot signal groups by pidfd, the contract lets the member survive, so the
     * test kills it here. */
    (void)__real_kill(-stolen, SIGKILL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_normal_exit),
        leaves_nothing(adopted_orphans_are_reaped_by_pid),
        leaves_nothing(a_deadline),
        leaves_nothing(a_cancel),
        leaves_nothing(a_group_that_ignores_the_first_signal),
        leaves_nothing(a_member_that_outlives_its_leader),
        leaves_nothing(a_stopped_child),
        leaves_nothing(too_much_output),
        leaves_nothing(a_signal_of_the_parent),
        leaves_nothing(a_payload_that_is_not_read),
        leaves_nothing(a_leader_that_was_reaped_elsewhere_is_not_signalled),
    };
    return cmocka_run_group_tests_name("exec/run: order of kills", tests, NULL, NULL);
}
