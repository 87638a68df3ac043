#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

static void an_exit_has_its_status(void **state) {
    (void)state;
    static const struct {
        const char *script;
        int code;
    } rows[] = {
        {"exit 0", 0}, {"exit 1", 1}, {"exit 130", 130}, {"exit 143", 143}, {"exit 255", 255}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bs_exec_request request = SHELL(rows[i].script);
        struct bs_exec_result result = run_to_result(&request);
        assert_int_equal(result.success, rows[i].code == 0);
        assert_true(result.has_exit_code);
        assert_int_equal(result.exit_code, rows[i].code);
        assert_int_equal(result.termination, BS_ENDED_EXIT);
        assert_int_equal(result.signal, 0);
        assert_false(result.truncated);
        assert_false(result.detached_writers);
        assert_false(result.killed_writers);
        assert_int_equal(result.group_left, 0);
        assert_int_equal(result.pending_signals, 0);
        assert_int_equal(result.err.len, 0);
        bs_exec_result_clear(&result);
    }
}

static void a_killed_writer_is_reported_and_its_output_is_kept(void **state) {
    (void)state;
    static const struct {
        const char *script;
        bool killed;
        const char *out;
    } rows[] = {
        {"mkfifo f; (echo helper; echo >f; exec sleep 60) & read x <f; rm f; exit 7", true,
         "helper\n"},
        {"mkfifo f; (echo >f; exec sleep 60) >/dev/null 2>&1 & read x <f; rm f; exit 7", false, ""},
    };
    char dir[] = "/tmp/boxspec-killed-XXXXXX";
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bs_exec_request request = SHELL(rows[i].script);
        request.current_dir = dir;
        struct bs_exec_result result = run_to_result(&request);
        assert_int_equal(result.exit_code, 7);
        assert_int_equal(result.killed_writers, rows[i].killed);
        assert_int_equal(result.unfinished, rows[i].killed ? BS_STDOUT | BS_STDERR : 0);
        assert_text(&result.out, rows[i].out);
        bs_exec_result_clear(&result);
    }
    assert_int_equal(rmdir(dir), 0);
}

static void a_signal_sent_to_itself_has_no_annotation(void **state) {
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT, SIGKILL, SIGUSR1};
    static const char *const scripts[] = {"echo >&2 x; kill -TERM $$", "echo >&2 x; kill -INT $$",
                                          "echo >&2 x; kill -KILL $$", "echo >&2 x; kill -USR1 $$"};
    for (size_t i = 0; i < LENGTH(signals); i++) {
        struct bs_exec_request request = SHELL(scripts[i]);
        struct bs_exec_result result = run_to_result(&request);
        assert_false(result.success);
        assert_false(result.has_exit_code);
        assert_int_equal(result.termination, BS_ENDED_SIGNAL);
        assert_int_equal(result.signal, signals[i]);
        assert_text(&result.err, "x\n");
        bs_exec_result_clear(&result);
    }
}

static void a_timeout_annotates_the_childs_output(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("echo >&2 -n started; exec sleep 60");
    request.timeout_ms = &(const uint64_t){1};
    struct bs_exec_result result = run_to_result(&request);
    assert_false(result.success);
    assert_false(result.has_exit_code);
    assert_int_equal(result.termination, BS_ENDED_TIMEOUT);
    assert_int_equal(result.signal, 0);
    if (result.err.len > strlen("process timed out"))
        assert_text(&result.err, "started\nprocess timed out");
    else
        assert_text(&result.err, "process timed out");
    bs_exec_result_clear(&result);
}

static void a_cancel_descriptor_ends_the_run_and_is_not_read(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    struct bs_exec_request request = SHELL("exec sleep 60");
    request.cancel_fd = &ends[0];
    struct bs_exec_result result = run_to_result(&request);
    assert_false(result.success);
    assert_false(result.has_exit_code);
    assert_int_equal(result.termination, BS_ENDED_CANCEL);
    assert_text(&result.err, "process cancelled");
    bs_exec_result_clear(&result);
    char byte = 0;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    bs_close(&ends[1]);
    result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_CANCEL);
    bs_exec_result_clear(&result);
    bs_close(&ends[0]);
}

static void zero_values_request_no_option(void **state) {
    (void)state;
    const struct bs_exec_request request = {.program = "true"};
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_EXIT);
    assert_true(result.success);
    bs_exec_result_clear(&result);
}

static void a_limit_of_zero_is_a_limit(void **state) {
    (void)state;
    static const uint64_t zero;
    struct bs_exec_request request = SHELL("exec sleep 60");
    request.timeout_ms = &zero;
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_TIMEOUT);
    bs_exec_result_clear(&result);
    request = SHELL("echo; exec sleep 60");
    request.max_output_bytes = &zero;
    result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_CAP);
    bs_exec_result_clear(&result);
}

static void an_invalid_cancel_descriptor_is_refused(void **state) {
    (void)state;
    static const int failed = -1;
    struct bs_exec_request request = SHELL("exit 0");
    request.cancel_fd = &failed;
    struct bs_error err = run_to_error(&request, BS_E_INVALID);
    assert_non_null(strstr(err.message, "cancel_fd: -1"));
}

static void an_unused_cancel_descriptor_has_no_effect(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    struct bs_exec_request request = SHELL("exit 3");
    request.cancel_fd = &ends[0];
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.exit_code, 3);
    bs_exec_result_clear(&result);
    bs_close(&ends[0]);
    bs_close(&ends[1]);
}

static void resource_usage_is_the_childs(void **state) {
    (void)state;
    struct bs_exec_request request =
        SHELL("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 0");
    struct bs_exec_result result = run_to_result(&request);
    long spent = (long)(result.usage.ru_utime.tv_sec + result.usage.ru_stime.tv_sec) * 1000000 +
                 result.usage.ru_utime.tv_usec + result.usage.ru_stime.tv_usec;
    assert_true(spent > 0);
    assert_true(result.usage.ru_maxrss > 0);
    assert_true(result.usage.ru_minflt > 0);
    bs_exec_result_clear(&result);
}

static void duration_spans_the_run(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("exec sleep 0.05");
    uint64_t before = bs_now_ns();
    struct bs_exec_result result = run_to_result(&request);
    uint64_t spent_ms = (bs_now_ns() - before) / BS_NS_PER_MS;
    assert_in_range(result.duration_ms, 50, spent_ms);
    bs_exec_result_clear(&result);
}

static void an_old_result_is_cleared_first(void **state) {
    (void)state;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    result.success = true;
    result.exit_code = 9;
    assert_int_equal(bs_exec_run(&request, &result, &err), BS_E_INVALID);
    assert_false(result.success);
    assert_int_equal(result.exit_code, 0);
    assert_non_null(strstr(err.message, "no program"));
    assert_int_equal(bs_exec_run(&request, &result, NULL), BS_E_INVALID);
}

static void the_text_contains_both_streams(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("printf 'a\\377'; printf '\\342\\202' >&2");
    struct bs_exec_result result = run_to_result(&request);
    assert_text(&result.out, "a\xFF");
    assert_int_equal(bs_exec_result_text(&result), BS_OK);
    assert_text(&result.out, "a\uFFFD");
    assert_text(&result.err, "\uFFFD");
    bs_exec_result_clear(&result);
    bs_exec_result_clear(&result);
    assert_null(result.out.data);
}

static void a_failed_spawn_is_an_error_that_names_the_program(void **state) {
    (void)state;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = "/no/such/program";
    struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
    assert_int_equal(err.os_error, ENOENT);
    assert_string_equal(err.message,
                        "failed to spawn `/no/such/program`: No such file or directory");
    request.current_dir = "/no/such/place";
    err = run_to_error(&request, BS_E_EXECUTION);
    assert_non_null(strstr(err.message, "working directory `/no/such/place`"));
}

static void a_slash_at_the_end_of_a_program_is_not_dropped(void **state) {
    (void)state;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = "/bin/sh/";
    struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
    assert_int_equal(err.os_error, ENOTDIR);
    assert_string_equal(err.message, "failed to spawn `/bin/sh/`: Not a directory");
}

static void a_caller_that_ignores_sigchld_gets_an_error_before_the_spawn(void **state) {
    (void)state;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction no_wait = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
    struct sigaction before;
    struct bs_exec_request request = SHELL("exit 0");
    (void)sigaction(SIGCHLD, &ignore, &before);
    struct bs_error first = run_to_error(&request, BS_E_EXECUTION);
    (void)sigaction(SIGCHLD, &no_wait, NULL);
    struct bs_error second = run_to_error(&request, BS_E_EXECUTION);
    (void)sigaction(SIGCHLD, &before, NULL);
    assert_non_null(strstr(first.message, "wait timeout error"));
    assert_int_equal(first.os_error, ECHILD);
    assert_string_equal(second.message, first.message);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(an_exit_has_its_status),
        leaves_nothing(a_killed_writer_is_reported_and_its_output_is_kept),
        leaves_nothing(a_signal_sent_to_itself_has_no_annotation),
        leaves_nothing(a_timeout_annotates_the_childs_output),
        leaves_nothing(a_cancel_descriptor_ends_the_run_and_is_not_read),
        leaves_nothing(zero_values_request_no_option),
        leaves_nothing(a_limit_of_zero_is_a_limit),
        leaves_nothing(an_invalid_cancel_descriptor_is_refused),
        leaves_nothing(an_unused_cancel_descriptor_has_no_effect),
        leaves_nothing(resource_usage_is_the_childs),
        leaves_nothing(duration_spans_the_run),
        leaves_nothing(an_old_result_is_cleared_first),
        leaves_nothing(the_text_contains_both_streams),
        leaves_nothing(a_failed_spawn_is_an_error_that_names_the_program),
        leaves_nothing(a_slash_at_the_end_of_a_program_is_not_dropped),
        leaves_nothing(a_caller_that_ignores_sigchld_gets_an_error_before_the_spawn),
    };
    return cmocka_run_group_tests_name("exec/run: result", tests, NULL, NULL);
}
