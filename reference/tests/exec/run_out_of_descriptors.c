#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

enum { PLENTY = 24 };

static rlim_t lowest; /* a limit that leaves no descriptor free */

/* Open every free descriptor below the highest open one. Otherwise more descriptors would be free
 * than the test intends. */
static int fill_gaps(void **state) {
    (void)state;
    int above = first_free_above_all();
    int fd = 0;
    while ((fd = fcntl(0, F_DUPFD_CLOEXEC, 0)) >= 0 && fd < above) {
    }
    (void)close(fd);
    lowest = (rlim_t)above;
    return fd < 0 ? -1 : 0;
}

/* Run with `n` free descriptors, and return the code. */
static int with_free(rlim_t n, const struct bs_exec_request *request, struct bs_exec_result *result,
                     struct bs_error *err) {
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit tight = {lowest + n, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    int code = bs_exec_run(request, result, err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    return code;
}

/* Try every number of free descriptors. Return the number that the run needs. */
static rlim_t sweep(const struct bs_exec_request *request) {
    struct holdings before = holdings_now();
    rlim_t enough = 0;
    for (rlim_t n = 0; n <= PLENTY; n++) {
        struct bs_exec_result result = BS_EXEC_RESULT_INIT;
        struct bs_error err = BS_ERROR_INIT;
        int code = with_free(n, request, &result, &err);
        if (code == BS_OK) {
            assert_true(n > 0);
            assert_int_equal(result.termination, BS_ENDED_EXIT);
            assert_int_equal(result.exit_code, 3);
            assert_text(&result.out, "out\n");
        } else {
            assert_int_equal(code, BS_E_EXECUTION);
            assert_int_equal(err.os_error, EMFILE);
            assert_non_null(strstr(err.message, "failed to "));
            assert_null(result.out.data);
            enough = n + 1;
        }
        bs_exec_result_clear(&result);
        assert_nothing_left(before);
    }
    assert_true(enough > 0);
    return enough;
}

static void a_plain_run_succeeds_or_fails_completely(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("echo out; exit 3");
    rlim_t enough = sweep(&request);
    assert_in_range(enough, 1, PLENTY);
}

static void a_run_with_every_option_succeeds_or_fails_completely(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("exec cat >/dev/null & echo out; wait; exit 3");
    request.current_dir = "/";
    request.stdin_mode = BS_STDIN_BYTES;
    request.stdin_data = "input";
    request.stdin_len = 5;
    request.debug = true;
    rlim_t enough = sweep(&request);
    assert_in_range(enough, 1, PLENTY);
}

static void the_next_run_works(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("exit 0");
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(with_free(0, &request, &result, &err), BS_E_EXECUTION);
    assert_int_equal(err.os_error, EMFILE);
    result = run_to_result(&request);
    assert_true(result.success);
    bs_exec_result_clear(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_plain_run_succeeds_or_fails_completely),
        leaves_nothing(a_run_with_every_option_succeeds_or_fails_completely),
        leaves_nothing(the_next_run_works),
    };
    return cmocka_run_group_tests_name("exec/run: out of descriptors", tests, fill_gaps, NULL);
}
