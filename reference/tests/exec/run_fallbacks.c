/* Repeats runs on hosts that lack a feature: pidfds, threads, the C library's spawn, or the query
 * whether a file may be executed. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *),
                          void *arg);
int __real_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attr, char *const *argv, char *const *envp);
int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attr, char *const *argv, char *const *envp);
int __real_setpgid(pid_t pid, pid_t pgid);
int __wrap_setpgid(pid_t pid, pid_t pgid);
int __real_faccessat(int dir, const char *path, int mode, int flags);
int __wrap_faccessat(int dir, const char *path, int mode, int flags);

static struct host {
    bool no_pidfd;
    bool no_threads;
    bool no_clone3;
    bool no_faccessat2;
} host;
static unsigned threads_made;
static unsigned spawns_refused;

/* Always pass on six arguments, although some calls have fewer. The function of the C library does
 * the same. */
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if ((host.no_pidfd && (number == SYS_pidfd_open || number == SYS_pidfd_send_signal)) ||
        (host.no_clone3 && number == SYS_clone3)) {
        errno = number == SYS_clone3 ? EPERM : ENOSYS;
        return -1;
    }
    return __real_syscall(number, a, b, c, d, e, f);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *),
                          void *arg) {
    if (host.no_threads)
        return EAGAIN;
    threads_made++;
    return __real_pthread_create(thread, attr, body, arg);
}

int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attr, char *const *argv, char *const *envp) {
    if (host.no_clone3) {
        spawns_refused++;
        return EPERM;
    }
    return __real_posix_spawn(pid, path, actions, attr, argv, envp);
}

int __wrap_faccessat(int dir, const char *path, int mode, int flags) {
    if (host.no_faccessat2 && flags != 0) {
        errno = EPERM;
        return -1;
    }
    return __real_faccessat(dir, path, mode, flags);
}

static void assert_exits(const char *script, int code) {
    struct bs_exec_request request = SHELL(script);
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_EXIT);
    assert_int_equal(result.exit_code, code);
    assert_int_equal(result.group_left, 0);
    bs_exec_result_clear(&result);
}

static void assert_ends_by_itself(void) {
    assert_exits("exit 0", 0);
    assert_exits("exec >&- 2>&-; sleep 0.05; exit 9", 9);
    assert_exits("sleep 60 >/dev/null 2>&1 & exit 4", 4);
    struct bs_exec_request request = SHELL("echo out; kill -KILL $$");
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_SIGNAL);
    assert_int_equal(result.signal, SIGKILL);
    assert_text(&result.out, "out\n");
    bs_exec_result_clear(&result);
}

static void cancel(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)stream;
    (void)data;
    (void)len;
    (void)!write(*(const int *)ctx, "x", 1);
}

static void assert_is_ended(void) {
    struct bs_exec_request request = SHELL("sleep 60 & exec sleep 60");
    request.timeout_ms = &(const uint64_t){10};
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_TIMEOUT);
    bs_exec_result_clear(&result);
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    request = SHELL("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done");
    request.cancel_fd = &ends[0];
    request.on_output = cancel;
    request.on_output_ctx = &ends[1];
    result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_CANCEL);
    assert_int_equal(result.group_left, 0);
    bs_exec_result_clear(&result);
    bs_close(&ends[0]);
    bs_close(&ends[1]);
}

static void assert_takes_input_and_fails_cleanly(void) {
    struct bs_exec_request request = SHELL("exec cat");
    request.stdin_mode = BS_STDIN_BYTES;
    request.stdin_data = "hello";
    request.stdin_len = 5;
    request.current_dir = "/";
    request.program = "sh";
    struct bs_exec_result result = run_to_result(&request);
    assert_text(&result.out, "hello");
    bs_exec_result_clear(&result);
    request = SHELL("exit 0");
    request.program = "/no/such/program";
    struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
    assert_int_equal(err.os_error, ENOENT);
    assert_non_null(strstr(err.message, "failed to spawn"));
    request.program = "/etc/passwd";
    err = run_to_error(&request, BS_E_EXECUTION);
    assert_int_equal(err.os_error, EACCES);
    request.program = "passwd";
    request.env_mode = BS_ENV_CLEAR_AND_SET;
    request.env = &(const struct bs_env_pair){"PATH", "/etc"};
    request.n_env = 1;
    err = run_to_error(&request, BS_E_EXECUTION);
    assert_int_equal(err.os_error, EACCES);
}

static void assert_all_runs(struct host lacking) {
    host = lacking;
    threads_made = 0;
    spawns_refused = 0;
    assert_ends_by_itself();
    assert_is_ended();
    assert_takes_input_and_fails_cleanly();
    host = (struct host){0};
}

static void with_all_features_no_thread_is_started(void **state) {
    (void)state;
    assert_all_runs((struct host){0});
    assert_int_equal(threads_made, 0);
}

static void without_pidfds_a_thread_waits(void **state) {
    (void)state;
    assert_all_runs((struct host){.no_pidfd = true});
    assert_int_equal(threads_made, 7);
}

static void without_pidfds_and_threads_the_loop_polls(void **state) {
    (void)state;
    assert_all_runs((struct host){.no_pidfd = true, .no_threads = true});
    assert_int_equal(threads_made, 0);
}

static void without_clone3_children_are_forked(void **state) {
    (void)state;
    assert_all_runs((struct host){.no_clone3 = true});
    assert_int_equal(spawns_refused, 9);
}

static bool no_groups;

int __wrap_setpgid(pid_t pid, pid_t pgid) {
    if (!no_groups)
        return __real_setpgid(pid, pgid);
    errno = EPERM;
    return -1;
}

static void the_failed_step_of_a_forked_child_is_named(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("exit 0");
    host.no_clone3 = no_groups = true;
    struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
    host.no_clone3 = no_groups = false;
    assert_string_equal(err.message,
                        "failed to spawn `/bin/sh`: process group: Operation not permitted");
}

static void without_faccessat2_programs_are_found(void **state) {
    (void)state;
    assert_all_runs((struct host){.no_faccessat2 = true});
}

static void a_run_works_without_all_of_these_features(void **state) {
    (void)state;
    assert_all_runs((struct host){
        .no_pidfd = true, .no_threads = true, .no_clone3 = true, .no_faccessat2 = true});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(with_all_features_no_thread_is_started),
        leaves_nothing(without_pidfds_a_thread_waits),
        leaves_nothing(without_pidfds_and_threads_the_loop_polls),
        leaves_nothing(without_clone3_children_are_forked),
        leaves_nothing(the_failed_step_of_a_forked_child_is_named),
        leaves_nothing(without_faccessat2_programs_are_found),
        leaves_nothing(a_run_works_without_all_of_these_features),
    };
    return cmocka_run_group_tests_name("exec/run: fallbacks", tests, NULL, NULL);
}
