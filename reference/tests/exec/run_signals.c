/* Tests signals to the calling process during a run. They are sent from the output callback: at
 * that time the child runs and the handlers are installed, and the callback is on the calling
 * thread. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

static void raise_them(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    (void)stream;
    (void)data;
    (void)len;
    /* Raise each signal only once, although the output may arrive in several pieces. */
    for (int *signals = ctx; *signals != 0; signals++) {
        int signo = *signals;
        if (signo > 0)
            (void)raise(signo);
        *signals = -1;
    }
}

static struct bs_exec_result interrupted_by(int first, int second, const char *script) {
    int signals[] = {first, second, 0};
    struct bs_exec_request request = SHELL(script);
    request.on_output = raise_them;
    request.on_output_ctx = signals;
    return run_to_result(&request);
}

static void a_signal_is_named_in_the_result(void **state) {
    (void)state;
    struct bs_exec_result result = interrupted_by(SIGTERM, 0, "echo ready; exec sleep 60");
    assert_int_equal(result.termination, BS_ENDED_PARENT_SIGNAL);
    assert_int_equal(result.signal, SIGTERM);
    assert_int_equal(result.exit_code, 143);
    assert_false(result.success);
    assert_text(&result.err, "process interrupted by signal SIGTERM");
    assert_int_equal(result.pending_signals, 0);
    bs_exec_result_clear(&result);
    result = interrupted_by(SIGINT, 0, "echo ready; exec sleep 60");
    assert_int_equal(result.exit_code, 130);
    assert_text(&result.err, "process interrupted by signal SIGINT");
    bs_exec_result_clear(&result);
}

static void a_signal_is_named_although_the_child_exits_with_0(void **state) {
    (void)state;
    struct bs_exec_result result =
        interrupted_by(SIGTERM, 0, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done");
    assert_int_equal(result.termination, BS_ENDED_PARENT_SIGNAL);
    assert_int_equal(result.exit_code, 143);
    assert_false(result.success);
    bs_exec_result_clear(&result);
}

static void a_second_signal_is_listed(void **state) {
    (void)state;
    struct bs_exec_result result = interrupted_by(SIGINT, SIGTERM, "echo ready; exec sleep 60");
    assert_int_equal(result.signal, SIGINT);
    assert_int_equal(result.pending_signals, BS_PENDING_SIGTERM);
    bs_exec_result_clear(&result);
    result = interrupted_by(SIGTERM, SIGTERM, "echo ready; exec sleep 60");
    assert_int_equal(result.signal, SIGTERM);
    assert_int_equal(result.pending_signals, BS_PENDING_SIGTERM);
    bs_exec_result_clear(&result);
}

static void dispositions_are_restored_after_every_outcome(void **state) {
    (void)state;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    struct sigaction now;
    (void)sigaction(SIGINT, &ignore, &before);
    struct bs_exec_request request = SHELL("exit 1");
    struct bs_exec_result result = run_to_result(&request);
    bs_exec_result_clear(&result);
    request.program = "/no/such/program";
    (void)run_to_error(&request, BS_E_EXECUTION);
    result = interrupted_by(SIGINT, 0, "echo ready; exec sleep 60");
    assert_int_equal(result.exit_code, 130);
    bs_exec_result_clear(&result);
    (void)sigaction(SIGINT, &before, &now);
    assert_true(now.sa_handler == SIG_IGN);
    (void)sigaction(SIGTERM, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
}

static sigset_t mask_now(void) {
    sigset_t mask;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return mask;
}

static void assert_same_set(const sigset_t *a, const sigset_t *b) {
    for (int signo = 1; signo < SIGRTMIN; signo++)
        assert_int_equal(sigismember(a, signo), sigismember(b, signo));
}

static void run_with_a_broken_pipe(bool debug) {
    static char payload[512 * 1024];
    struct bs_exec_request request = SHELL("exit 0");
    request.stdin_mode = BS_STDIN_BYTES;
    request.stdin_data = payload;
    request.stdin_len = sizeof payload;
    request.debug = debug;
    (void)run_to_error(&request, BS_E_EXECUTION);
}

static void the_signal_mask_is_unchanged(void **state) {
    (void)state;
    sigset_t mine;
    sigset_t before;
    (void)sigemptyset(&mine);
    (void)sigaddset(&mine, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &mine, &before);
    sigset_t expected = mask_now();
    run_with_a_broken_pipe(false);
    run_with_a_broken_pipe(true);
    struct bs_exec_request request = SHELL("exit 0");
    struct bs_exec_result result = run_to_result(&request);
    bs_exec_result_clear(&result);
    sigset_t after = mask_now();
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_same_set(&after, &expected);
}

static void the_child_gets_the_callers_mask(void **state) {
    (void)state;
    sigset_t mine;
    sigset_t before;
    (void)sigemptyset(&mine);
    (void)sigaddset(&mine, SIGUSR1);
    (void)pthread_sigmask(SIG_SETMASK, &mine, &before);
    struct bs_exec_request request = SHELL("exec grep SigBlk /proc/self/status");
    request.debug = false;
    request.stdin_mode = BS_STDIN_BYTES;
    struct bs_exec_result result = run_to_result(&request);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_text(&result.out, "SigBlk:\t0000000000000200\n");
    bs_exec_result_clear(&result);
}

static void no_sigpipe_reaches_the_caller_and_none_is_taken_from_it(void **state) {
    (void)state;
    sigset_t pipe_only;
    sigset_t before;
    sigset_t pending;
    (void)sigemptyset(&pipe_only);
    (void)sigaddset(&pipe_only, SIGPIPE);
    /* if the run did not block SIGPIPE, its default action would end this process */
    run_with_a_broken_pipe(false);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    run_with_a_broken_pipe(false);
    (void)sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
    /* a SIGPIPE of the caller itself, which must stay pending until after the run */
    (void)raise(SIGPIPE);
    run_with_a_broken_pipe(false);
    (void)sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGPIPE), 1);
    int signo = 0;
    (void)sigwait(&pipe_only, &signo);
    assert_int_equal(signo, SIGPIPE);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    struct sigaction now;
    (void)sigaction(SIGPIPE, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_signal_is_named_in_the_result),
        leaves_nothing(a_signal_is_named_although_the_child_exits_with_0),
        leaves_nothing(a_second_signal_is_listed),
        leaves_nothing(dispositions_are_restored_after_every_outcome),
        leaves_nothing(the_signal_mask_is_unchanged),
        leaves_nothing(the_child_gets_the_callers_mask),
        leaves_nothing(no_sigpipe_reaches_the_caller_and_none_is_taken_from_it),
    };
    return cmocka_run_group_tests_name("exec/run: signals", tests, NULL, NULL);
}
