/* Which of several things that are true in one look names the result. The callback that gets the
 * child's output holds the run until all of them are. */
#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

/* The child has the other end of a pipe until it ends. */
static int ends[2];

static struct {
    size_t least;         /* output that is waited with */
    uint64_t for_ms;      /* from then on */
    int raised[2];        /* signals to ourselves, 0 for none */
    bool waits_for_child; /* until it has ended */
} meanwhile;

static void hold(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    char byte = 0;
    (void)ctx;
    (void)stream;
    (void)data;
    if (len < meanwhile.least)
        return;
    bs_close(&ends[1]);
    while (meanwhile.waits_for_child && BS_RETRY(read(ends[0], &byte, 1)) == 1) {
    }
    meanwhile.waits_for_child = false;
    uint64_t at = bs_after_ms(bs_now_ns(), meanwhile.for_ms);
    struct timespec until = {(time_t)(at / 1000000000), (long)(at % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
    for (size_t i = 0; i < LENGTH(meanwhile.raised); i++) {
        if (meanwhile.raised[i] != 0)
            (void)raise(meanwhile.raised[i]);
        meanwhile.raised[i] = 0;
    }
    meanwhile.for_ms = 0;
}

static struct bs_exec_result run_held(struct bs_exec_request request) {
    assert_int_equal(pipe(ends), 0);
    request.on_output = hold;
    struct bs_exec_result result = run_to_result(&request);
    bs_close(&ends[0]);
    bs_close(&ends[1]);
    return result;
}

static void an_exit_wins_over_a_deadline(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("echo; exit 5");
    request.timeout_ms = &(const uint64_t){300};
    meanwhile.waits_for_child = true;
    meanwhile.for_ms = 400;
    struct bs_exec_result result = run_held(request);
    assert_int_equal(result.termination, BS_ENDED_EXIT);
    assert_int_equal(result.exit_code, 5);
    assert_int_equal(result.err.len, 0);
    bs_exec_result_clear(&result);
}

static void a_signal_wins_over_an_exit(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("echo; exit 0");
    meanwhile.waits_for_child = true;
    meanwhile.raised[0] = SIGTERM;
    struct bs_exec_result result = run_held(request);
    assert_int_equal(result.termination, BS_ENDED_PARENT_SIGNAL);
    assert_int_equal(result.signal, SIGTERM);
    assert_int_equal(result.exit_code, 143);
    assert_false(result.success);
    bs_exec_result_clear(&result);
}

static void of_two_signals_the_first_wins(void **state) {
    (void)state;
    static const int orders[][2] = {{SIGINT, SIGTERM}, {SIGTERM, SIGINT}};
    for (size_t i = 0; i < LENGTH(orders); i++) {
        struct bs_exec_request request = SHELL("echo; exec sleep 60");
        meanwhile.raised[0] = orders[i][0];
        meanwhile.raised[1] = orders[i][1];
        struct bs_exec_result result = run_held(request);
        assert_int_equal(result.signal, orders[i][0]);
        assert_int_equal(result.pending_signals,
                         orders[i][1] == SIGINT ? BS_PENDING_SIGINT : BS_PENDING_SIGTERM);
        bs_exec_result_clear(&result);
    }
}

static void a_payload_that_was_not_taken_wins_over_a_signal(void **state) {
    (void)state;
    static char payload[512 * 1024];
    struct bs_exec_request request = SHELL("echo; exit 0");
    struct bs_error err = BS_ERROR_INIT;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    request.stdin_mode = BS_STDIN_BYTES;
    request.stdin_data = payload;
    request.stdin_len = sizeof payload;
    request.on_output = hold;
    meanwhile.waits_for_child = true;
    meanwhile.raised[0] = SIGTERM;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(bs_exec_run(&request, &result, &err), BS_E_EXECUTION);
    assert_non_null(strstr(err.message, "failed to write stdin"));
    bs_close(&ends[0]);
    bs_close(&ends[1]);
}

/* The excess lies in the pipe when the exit is seen, behind more than one read takes. */
static void a_cap_that_was_passed_before_the_exit_wins_over_it(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("dd if=/dev/zero bs=65536 count=1 2>/dev/null; "
                                           "dd if=/dev/zero bs=180000 count=1 2>/dev/null; exit 0");
    request.max_output_bytes = &(const uint64_t){200000};
    meanwhile.least = 65536;
    meanwhile.waits_for_child = true;
    struct bs_exec_result result = run_held(request);
    meanwhile.least = 0;
    assert_int_equal(result.termination, BS_ENDED_CAP);
    assert_int_equal(result.truncated, BS_STDOUT);
    assert_false(result.success);
    assert_false(result.has_exit_code);
    bs_exec_result_clear(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(an_exit_wins_over_a_deadline),
        leaves_nothing(a_signal_wins_over_an_exit),
        leaves_nothing(of_two_signals_the_first_wins),
        leaves_nothing(a_payload_that_was_not_taken_wins_over_a_signal),
        leaves_nothing(a_cap_that_was_passed_before_the_exit_wins_over_it),
    };
    return cmocka_run_group_tests_name("exec/run: outcomes", tests, NULL, NULL);
}
