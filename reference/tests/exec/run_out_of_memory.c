/* Makes each allocation of a run fail once. Only calls from the project's own objects reach the
 * wrappers; calls within the C library do not. */
#include <boxspec/exec.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/allocations.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"
#include "support/spent.h"

enum tolerance { EVERY_FAILURE_IS_AN_ERROR, A_COPY_MAY_BE_LOST };

static void sweep(const struct bs_exec_request *request, enum tolerance tolerance) {
    struct holdings before = holdings_now();
    int live_before = allocations.live;
    unsigned failures = 0;
    for (unsigned n = 1; n < 1000; n++) {
        struct bs_exec_result result = BS_EXEC_RESULT_INIT;
        struct bs_error err = BS_ERROR_INIT;
        allocations.count = 0;
        allocations.fail_at = n;
        double before_ms = spent_ms();
        int code = bs_exec_run(request, &result, &err);
        bool reached = allocations.count >= n;
        /* A pipe that can no longer be read must not be polled either: poll would return at once,
         * again and again. */
        assert_true(spent_ms() - before_ms < 300);
        allocations.fail_at = 0;
        if (code == BS_OK) {
            assert_true(!reached || tolerance == A_COPY_MAY_BE_LOST);
        } else {
            assert_true(reached);
            assert_int_equal(code, BS_E_EXECUTION);
            assert_int_equal(err.os_error, ENOMEM);
            assert_true(strlen(err.message) > 0);
            assert_null(result.out.data);
            assert_null(result.err.data);
            failures++;
        }
        bs_exec_result_clear(&result);
        assert_int_equal(allocations.live, live_before);
        assert_nothing_left(before);
        if (!reached) {
            assert_true(failures > 0);
            return;
        }
    }
    fail_msg("a thousand allocations, and still no result");
}

static void the_very_first_allocation_fails(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("exit 0");
    allocations.count = 0;
    allocations.fail_at = 1;
    struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
    allocations.fail_at = 0;
    assert_int_equal(err.os_error, ENOMEM);
    assert_int_equal(allocations.live, 0);
    /* Only the slot for signals remains allocated, because it is kept for the next run and for the
     * signal handler. */
    struct bs_exec_result result = run_to_result(&request);
    bs_exec_result_clear(&result);
    assert_int_equal(allocations.live, 1);
}

static const struct bs_env_pair env[] = {{"PATH", "/no/such/place:/bin"},
                                         {"A_TOKEN", "hunter2hunter2"},
                                         {"A_TOKEN", "hunter3hunter3"},
                                         {"PLAIN", "text"}};

static struct bs_exec_request full_request(const char *const *args) {
    struct bs_exec_request request = shell_request(args);
    request.program = "sh";
    request.current_dir = "/";
    request.env_mode = BS_ENV_CLEAR_AND_SET;
    request.env = env;
    request.n_env = LENGTH(env);
    request.stdin_mode = BS_STDIN_BYTES;
    request.stdin_data = "input";
    request.stdin_len = 5;
    return request;
}

static void a_run_with_every_option(void **state) {
    (void)state;
    struct bs_exec_request request =
        full_request((const char *[]){"-c", "cat; head -c 200000 /dev/zero; echo err >&2; exit 3"});
    sweep(&request, EVERY_FAILURE_IS_AN_ERROR);
}

static void a_capped_run(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("echo out; echo err >&2; exit 3");
    request.max_output_bytes = &(const uint64_t){100};
    sweep(&request, EVERY_FAILURE_IS_AN_ERROR);
}

static void a_run_that_times_out(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("exec sleep 60");
    request.timeout_ms = &(const uint64_t){0};
    sweep(&request, EVERY_FAILURE_IS_AN_ERROR);
}

static void a_run_with_a_copy_for_the_terminal(void **state) {
    (void)state;
    struct bs_exec_request request =
        full_request((const char *[]){"-c", "cat >/dev/null; echo out; echo $A_TOKEN >&2"});
    request.debug = true;
    sweep(&request, A_COPY_MAY_BE_LOST);
}

static void if_text_cannot_be_allocated_the_bytes_remain(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("printf 'a\\377'");
    struct bs_exec_result result = run_to_result(&request);
    allocations.count = 0;
    allocations.fail_at = 1;
    int code = bs_exec_result_text(&result);
    allocations.fail_at = 0;
    assert_int_equal(code, BS_E_EXECUTION);
    assert_text(&result.out, "a\xFF");
    bs_exec_result_clear(&result);
}

static void a_format_that_cannot_be_allocated_is_an_error(void **state) {
    (void)state;
    int live_before = allocations.live;
    struct bs_bytes out = BS_BYTES_INIT;
    struct bs_error err = BS_ERROR_INIT;
    allocations.count = 0;
    allocations.fail_at = 1;
    int code = bs_exec_format_env(BS_ENV_CLEAR_AND_SET, env, LENGTH(env), &out, &err);
    allocations.fail_at = 0;
    assert_int_equal(code, BS_E_EXECUTION);
    assert_int_equal(err.os_error, ENOMEM);
    assert_int_equal(allocations.live, live_before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(the_very_first_allocation_fails),
        leaves_nothing(a_run_with_every_option),
        leaves_nothing(a_capped_run),
        leaves_nothing(a_run_that_times_out),
        leaves_nothing(a_run_with_a_copy_for_the_terminal),
        leaves_nothing(if_text_cannot_be_allocated_the_bytes_remain),
        leaves_nothing(a_format_that_cannot_be_allocated_is_an_error),
    };
    return cmocka_run_group_tests_name("exec/run: out of memory", tests, NULL, NULL);
}
