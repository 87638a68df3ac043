#define _GNU_SOURCE
#include <boxspec/process.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "exec/group.h"
#include "process/handle.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/process.h"
#include "support/shell.h"

static void assert_end(struct bs_process *process, enum bs_process_state state, int number) {
    struct bs_process_end end;
    assert_int_equal(bs_process_wait(process, NULL, &end, NULL), BS_OK);
    assert_int_equal(end.state, state);
    assert_int_equal(end.number, number);
}

static void an_invalid_request_opens_no_process(void **state) {
    (void)state;
    struct bs_process *process = NULL;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_exec_request request = SHELL("exit 0");
    assert_int_equal(bs_process_open(&request, &piped, NULL, &process, &err), BS_E_INVALID);
    request.stdin_mode = BS_STDIN_INHERIT;
    struct bs_stdio odd = piped;
    odd.err = (enum bs_stdio_mode)7;
    assert_int_equal(bs_process_open(&request, &odd, NULL, &process, &err), BS_E_INVALID);
    request.program = "/no/such/program";
    assert_int_equal(bs_process_open(&request, &piped, NULL, &process, &err), BS_E_EXECUTION);
    assert_null(process);
    bs_process_drop(NULL);
}

static void the_callers_ends_are_blocking_and_close_on_exec(void **state) {
    (void)state;
    struct bs_process *process = opened("cat");
    for (int stream = 0; stream < 3; stream++) {
        int fd = bs_process_stream(process, stream);
        assert_true(fd > 2);
        assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
        assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    }
    int taken = bs_process_take(process, 1);
    assert_true(taken > 2);
    assert_int_equal(bs_process_take(process, 1), -1);
    assert_int_equal(write(bs_process_stream(process, 0), "x\0y", 3), 3);
    assert_end(process, BS_PROCESS_EXITED, 0);
    char got[8];
    assert_int_equal(read(taken, got, sizeof got), 3);
    assert_memory_equal(got, "x\0y", 3);
    bs_process_drop(process);
    assert_int_equal(close(taken), 0);
}

static void calls_after_the_end_report_the_same_end(void **state) {
    (void)state;
    static const uint64_t at_once = 0;
    struct bs_process_end end;
    bool detached = true;
    struct bs_process *process = opened("exit 7");
    assert_end(process, BS_PROCESS_EXITED, 7);
    assert_end(process, BS_PROCESS_EXITED, 7);
    assert_int_equal(bs_process_wait(process, &at_once, &end, NULL), BS_OK);
    assert_int_equal(bs_process_kill(process, NULL), BS_OK);
    assert_int_equal(bs_process_terminate(process, NULL), BS_OK);
    assert_int_equal(bs_process_close(process, 0, &end, &detached, NULL), BS_OK);
    assert_int_equal(end.number, 7);
    assert_false(detached);
    bs_process_drop(process);
}

static void a_child_that_was_reaped_elsewhere_is_an_error(void **state) {
    (void)state;
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_process *process = opened("exit 0");
    assert_int_equal(waitpid(bs_process_pid(process), NULL, 0), bs_process_pid(process));
    assert_int_equal(bs_process_wait(process, NULL, &end, &err), BS_E_EXECUTION);
    assert_int_equal(err.os_error, ECHILD);
    assert_int_equal(bs_process_kill(process, &err), BS_OK);
    bs_process_drop(process);
}

struct waiter {
    struct bs_process *process;
    struct bs_process_end end;
};

static void *wait_for_it(void *arg) {
    struct waiter *waiter = arg;
    (void)bs_process_wait(waiter->process, NULL, &waiter->end, NULL);
    return NULL;
}

/* Several waits and one of every other call run at the same time. Each wait must report the same
 * end. */
static void every_concurrent_wait_reports_the_end(void **state) {
    (void)state;
    for (int round = 0; round < 30; round++) {
        enum { WAITS = 3 };
        struct waiter waiters[WAITS];
        pthread_t threads[WAITS];
        struct bs_process_end end;
        struct bs_process *process = opened("trap '' TERM; sleep 60 & wait; wait");
        for (int i = 0; i < WAITS; i++) {
            waiters[i].process = process;
            assert_int_equal(pthread_create(&threads[i], NULL, wait_for_it, &waiters[i]), 0);
        }
        if (round % 3 == 0)
            assert_int_equal(bs_process_kill(process, NULL), BS_OK);
        else if (round % 3 == 1)
            assert_int_equal(bs_process_close(process, 0, &end, NULL, NULL), BS_OK);
        else
            assert_int_equal(bs_process_terminate(process, NULL), BS_OK);
        assert_int_equal(bs_process_kill(process, NULL), BS_OK);
        for (int i = 0; i < WAITS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(waiters[i].end.state, BS_PROCESS_SIGNALED);
        }
        bs_process_drop(process);
    }
}

static void a_drop_ends_the_group(void **state) {
    (void)state;
    char ready = 0;
    struct bs_process *process = opened("trap '' TERM; sleep 60 & printf r; wait; wait");
    assert_int_equal(read(bs_process_stream(process, 1), &ready, 1), 1);
    pid_t pgid = bs_process_pid(process);
    bs_process_drop(process);
    /* a zombie that its new parent has not reaped counts as ended */
    assert_int_equal(bs_group_find_members(pgid, pgid, UINT64_MAX).alive, 0);
}

static void *poll_once(void *arg) {
    static const uint64_t at_once = 0;
    struct bs_process_end end;
    (void)bs_process_wait(arg, &at_once, &end, NULL);
    return NULL;
}

static void a_call_that_waits_for_the_lock_counts_for_a_drop(void **state) {
    (void)state;
    pthread_t thread;
    struct bs_process *process = opened("exit 0");
    bs_process_begin_call(process);
    assert_int_equal(pthread_create(&thread, NULL, poll_once, process), 0);
    uint64_t until = bs_after_ms(bs_now_ns(), 20000);
    while (process->calls < 2 && bs_now_ns() < until)
        (void)sched_yield();
    assert_int_equal(process->calls, 2);
    bs_process_end_call(process);
    bs_process_drop(process);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void) {
    (void)signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        leaves_nothing(an_invalid_request_opens_no_process),
        leaves_nothing(the_callers_ends_are_blocking_and_close_on_exec),
        leaves_nothing(calls_after_the_end_report_the_same_end),
        leaves_nothing(a_child_that_was_reaped_elsewhere_is_an_error),
        leaves_nothing(every_concurrent_wait_reports_the_end),
        leaves_nothing(a_drop_ends_the_group),
        leaves_nothing(a_call_that_waits_for_the_lock_counts_for_a_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
