/* Tests runs on a host whose system calls fail where they normally do not. Incomplete output must
 * be reported. There must be no busy loop, and no process may remain. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"
#include "support/spent.h"

ssize_t __real_read(int fd, void *data, size_t len);
ssize_t __wrap_read(int fd, void *data, size_t len);
int __real_poll(struct pollfd *set, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *set, nfds_t n, int timeout);
int __real_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo);
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

static struct {
    /* number of the read of a pipe that fails, counted from 1; 0 lets all succeed */
    unsigned fail_read;
    unsigned reads;
    int poll_error;  /* error of every poll that would wait */
    int refuse_once; /* number of a signal; the first attempt to send it fails */
    /* waiting for the child fails, as if another part of the program had reaped it */
    bool lose_child;
    bool no_group_pidfd;
} host;

ssize_t __wrap_read(int fd, void *data, size_t len) {
    struct stat st;
    if (host.fail_read > 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
        ++host.reads == host.fail_read) {
        errno = EIO;
        return -1;
    }
    return __real_read(fd, data, len);
}

int __wrap_poll(struct pollfd *set, nfds_t n, int timeout) {
    if (host.poll_error == 0 || timeout == 0)
        return __real_poll(set, n, timeout);
    errno = host.poll_error;
    return -1;
}

int __wrap_kill(pid_t pid, int signo) {
    if (signo != 0 && signo == host.refuse_once) {
        host.refuse_once = 0;
        errno = EPERM;
        return -1;
    }
    return __real_kill(pid, signo);
}

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (host.lose_child && number == SYS_waitid) {
        errno = ECHILD;
        return -1;
    }
    if (host.no_group_pidfd && number == SYS_pidfd_send_signal && d != 0) {
        errno = EINVAL;
        return -1;
    }
    return __real_syscall(number, a, b, c, d, e, f);
}

static int reset(void **state) {
    memset(&host, 0, sizeof host);
    return remember_holdings(state);
}

#define on_a_bad_host(test) cmocka_unit_test_setup_teardown(test, reset, assert_nothing_left_since)

static void unreadable_output_is_an_error(void **state) {
    (void)state;
    static const struct {
        const char *script;
        const char *message;
    } rows[] = {{"echo out; exec sleep 60", "failed to read stdout: Input/output error"},
                {"echo err >&2; exec sleep 60", "failed to read stderr: Input/output error"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bs_exec_request request = SHELL(rows[i].script);
        host.reads = 0;
        host.fail_read = 1;
        struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.os_error, EIO);
    }
}

static void unreadable_output_is_an_error_after_any_number_of_reads(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("head -c 400000 /dev/zero");
    bool reached = true;
    for (unsigned n = 1; n < 1000 && reached; n++) {
        struct bs_exec_result result = BS_EXEC_RESULT_INIT;
        host.reads = 0;
        host.fail_read = n;
        int code = bs_exec_run(&request, &result, NULL);
        reached = host.reads >= n;
        assert_int_equal(code, reached ? BS_E_EXECUTION : BS_OK);
        if (!reached)
            assert_int_equal(result.out.len, 400000);
        bs_exec_result_clear(&result);
    }
    assert_false(reached);
}

static void if_poll_fails_the_descriptors_are_read_in_turns(void **state) {
    (void)state;
    static const int errors[] = {ENOMEM, EINVAL};
    for (size_t i = 0; i < LENGTH(errors); i++) {
        host.poll_error = errors[i];
        struct bs_exec_request request = SHELL("cat; head -c 200000 /dev/zero >&2; exit 3");
        request.stdin_mode = BS_STDIN_BYTES;
        request.stdin_data = "input";
        request.stdin_len = 5;
        struct bs_exec_result result = run_to_result(&request);
        assert_int_equal(result.exit_code, 3);
        assert_text(&result.out, "input");
        assert_int_equal(result.err.len, 200000);
        bs_exec_result_clear(&result);
        request = SHELL("exec sleep 60");
        request.timeout_ms = &(const uint64_t){300};
        double before = spent_ms();
        result = run_to_result(&request);
        assert_int_equal(result.termination, BS_ENDED_TIMEOUT);
        assert_true(spent_ms() - before < 100);
        bs_exec_result_clear(&result);
    }
}

/* A group of processes that all have the other end of a pipe open. */
struct group {
    int ends[2];
};

static struct group watched_group(void) {
    struct group group;
    assert_int_equal(pipe(group.ends), 0);
    assert_int_equal(fcntl(group.ends[0], F_SETFD, FD_CLOEXEC), 0);
    return group;
}

static void assert_all_ended(struct group *group) {
    struct pollfd entry = {.fd = group->ends[0], .events = POLLIN};
    enum { BOUND_MS = 20000 };
    bs_close(&group->ends[1]);
    if (BS_RETRY(__real_poll(&entry, 1, BOUND_MS)) != 1)
        fail_msg("a member of the group lives on");
    bs_close(&group->ends[0]);
}

static void a_refused_signal_is_sent_again(void **state) {
    (void)state;
    static const uint64_t soon = 20;
    static const uint64_t little = 3;
    static const struct {
        const char *script;
        int refused;
        const uint64_t *timeout_ms;
        const uint64_t *most;
        enum bs_termination termination;
    } rows[] = {
        {"sleep 60 >/dev/null 2>&1 & exit 4", SIGKILL, NULL, NULL, BS_ENDED_EXIT},
        {"sleep 60 & exec sleep 60", SIGTERM, &soon, NULL, BS_ENDED_TIMEOUT},
        {"sleep 60 & echo much; exec sleep 60", SIGKILL, NULL, &little, BS_ENDED_CAP},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct group group = watched_group();
        struct bs_exec_request request = SHELL(rows[i].script);
        request.timeout_ms = rows[i].timeout_ms;
        request.max_output_bytes = rows[i].most;
        host.refuse_once = rows[i].refused;
        struct bs_exec_result result = run_to_result(&request);
        assert_int_equal(host.refuse_once, 0);
        assert_int_equal(result.termination, rows[i].termination);
        assert_int_equal(result.group_left, 0);
        /* the run did not wait for the whole grace period */
        assert_true(result.duration_ms < BS_EXEC_GRACE_MS);
        bs_exec_result_clear(&result);
        assert_all_ended(&group);
    }
}

static void a_child_that_cannot_be_waited_for_is_ended(void **state) {
    (void)state;
    /* Without a pidfd the library cannot know whether the child has ended and its pid is in use
     * again, so it must not signal the child. */
    if (__real_syscall(SYS_pidfd_send_signal, -1, 0, 0, 0, 0, 0) == -1 && errno == ENOSYS)
        skip();
    for (int old_kernel = 0; old_kernel < 2; old_kernel++) {
        struct group group = watched_group();
        struct bs_exec_request request = SHELL("sleep 60 & exec sleep 60");
        request.timeout_ms = &(const uint64_t){20};
        host.lose_child = true;
        host.no_group_pidfd = old_kernel == 1;
        struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
        assert_non_null(strstr(err.message, "wait timeout error"));
        assert_all_ended(&group);
        assert_false(has_children());
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        on_a_bad_host(unreadable_output_is_an_error),
        on_a_bad_host(unreadable_output_is_an_error_after_any_number_of_reads),
        on_a_bad_host(if_poll_fails_the_descriptors_are_read_in_turns),
        on_a_bad_host(a_refused_signal_is_sent_again),
        on_a_bad_host(a_child_that_cannot_be_waited_for_is_ended),
    };
    return cmocka_run_group_tests_name("exec/run: errors of the host", tests, NULL, NULL);
}
