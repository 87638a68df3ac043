#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

struct output {
    struct bs_buf streams[2];
    unsigned calls;
};

static void collect(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    struct output *output = ctx;
    bs_buf_add(&output->streams[stream == BS_STDERR], data, len);
    output->calls++;
}

static void forget(struct output *output) {
    bs_buf_clear(&output->streams[0]);
    bs_buf_clear(&output->streams[1]);
}

static void both_streams_are_kept_apart(void **state) {
    (void)state;
    struct bs_exec_request request =
        SHELL("echo out; echo err >&2; echo out2; printf 'no end' >&2");
    struct bs_exec_result result = run_to_result(&request);
    assert_text(&result.out, "out\nout2\n");
    assert_text(&result.err, "err\nno end");
    bs_exec_result_clear(&result);
}

static void output_for_a_callback_is_not_kept(void **state) {
    (void)state;
    struct output output = {{BS_BUF_INIT, BS_BUF_INIT}, 0};
    struct bs_exec_request request =
        SHELL("echo out; echo err >&2; head -c 300000 /dev/zero; exit 4");
    request.on_output = collect;
    request.on_output_ctx = &output;
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.exit_code, 4);
    assert_null(result.out.data);
    assert_int_equal(result.out.len, 0);
    assert_int_equal(result.err.len, 0);
    assert_int_equal(output.streams[0].len, 300004);
    assert_memory_equal(output.streams[0].data, "out\n\0\0", 6);
    assert_int_equal(output.streams[1].len, 4);
    bs_exec_result_clear(&result);
    forget(&output);
}

static void with_a_callback_the_result_has_only_the_annotation(void **state) {
    (void)state;
    struct output output = {{BS_BUF_INIT, BS_BUF_INIT}, 0};
    struct bs_exec_request request = SHELL("echo err >&2; exec sleep 60");
    request.on_output = collect;
    request.on_output_ctx = &output;
    request.timeout_ms = &(const uint64_t){1};
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_TIMEOUT);
    assert_text(&result.err, "process timed out");
    bs_exec_result_clear(&result);
    forget(&output);
}

static void a_byte_beyond_the_cap_ends_the_run(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("printf '12345\\303\\251'; printf e >&2; exec sleep 60");
    request.max_output_bytes = &(const uint64_t){6};
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_CAP);
    assert_int_equal(result.truncated, BS_STDOUT);
    assert_false(result.success);
    assert_false(result.has_exit_code);
    assert_text(&result.out, "12345");
    assert_true(result.err.len <= 1);
    bs_exec_result_clear(&result);
}

static void a_truncated_stream_is_named(void **state) {
    (void)state;
    static const struct {
        const char *script;
        unsigned truncated;
    } rows[] = {{"printf 12345 >&2; exec sleep 60", BS_STDERR},
                {"printf 12345; exec sleep 60", BS_STDOUT},
                {"printf 1234; printf 1234 >&2; exit 0", 0}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bs_exec_request request = SHELL(rows[i].script);
        request.max_output_bytes = &(const uint64_t){4};
        struct bs_exec_result result = run_to_result(&request);
        assert_int_equal(result.truncated, rows[i].truncated);
        bs_exec_result_clear(&result);
    }
}

/* Wait until the child has ended. Only the child holds the other end of this pipe. */
static void wait_for_its_end(void *ctx, enum bs_stream stream, const char *data, size_t len) {
    int *ends = ctx;
    char byte = 0;
    (void)stream;
    (void)data;
    (void)len;
    bs_close(&ends[1]);
    while (BS_RETRY(read(ends[0], &byte, 1)) == 1) {
    }
}

static void two_truncated_streams_are_named(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct bs_exec_request request = SHELL("echo; printf 12345 >&2; printf 12345");
    request.max_output_bytes = &(const uint64_t){4};
    request.on_output = wait_for_its_end;
    request.on_output_ctx = ends;
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_CAP);
    assert_int_equal(result.truncated, BS_STDOUT | BS_STDERR);
    bs_exec_result_clear(&result);
    bs_close(&ends[0]);
    bs_close(&ends[1]);
}

static void output_of_exactly_the_cap_is_not_truncated(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("printf '12345\\303\\251'; printf '1234567' >&2");
    request.max_output_bytes = &(const uint64_t){7};
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_EXIT);
    assert_int_equal(result.truncated, 0);
    assert_true(result.success);
    assert_text(&result.out, "12345\xC3\xA9");
    assert_text(&result.err, "1234567");
    bs_exec_result_clear(&result);
}

static void the_cap_also_limits_a_callback(void **state) {
    (void)state;
    struct output output = {{BS_BUF_INIT, BS_BUF_INIT}, 0};
    struct bs_exec_request request = SHELL("head -c 1000000 /dev/zero; exec sleep 60");
    request.on_output = collect;
    request.on_output_ctx = &output;
    request.max_output_bytes = &(const uint64_t){1000};
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.termination, BS_ENDED_CAP);
    assert_int_equal(result.truncated, BS_STDOUT);
    assert_int_equal(output.streams[0].len, 1000);
    bs_exec_result_clear(&result);
    forget(&output);
}

static void megabytes_on_both_streams_arrive_completely(void **state) {
    (void)state;
    struct bs_exec_request request =
        SHELL("head -c 3000001 /dev/zero >&2; head -c 2000003 /dev/zero");
    struct bs_exec_result result = run_to_result(&request);
    assert_true(result.success);
    assert_int_equal(result.err.len, 3000001);
    assert_int_equal(result.out.len, 2000003);
    bs_exec_result_clear(&result);
}

static void a_payload_comes_back_through_cat(void **state) {
    (void)state;
    enum { SIZE = 1500001 };
    char *payload = malloc(SIZE);
    assert_non_null(payload);
    for (size_t i = 0; i < SIZE; i++)
        payload[i] = (char)(i * 11 % 241);
    struct bs_exec_request request = SHELL("exec cat");
    request.stdin_mode = BS_STDIN_BYTES;
    request.stdin_data = payload;
    request.stdin_len = SIZE;
    struct bs_exec_result result = run_to_result(&request);
    assert_true(result.success);
    assert_int_equal(result.out.len, SIZE);
    assert_memory_equal(result.out.data, payload, SIZE);
    bs_exec_result_clear(&result);
    free(payload);
}

static void an_empty_payload_is_end_of_file_at_once(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("read x; echo $?");
    request.stdin_mode = BS_STDIN_BYTES;
    struct bs_exec_result result = run_to_result(&request);
    assert_text(&result.out, "1\n");
    bs_exec_result_clear(&result);
}

static void an_unread_payload_is_an_error(void **state) {
    (void)state;
    static char payload[512 * 1024];
    struct bs_exec_request request = SHELL("echo out; exit 0");
    request.stdin_mode = BS_STDIN_BYTES;
    request.stdin_data = payload;
    request.stdin_len = sizeof payload;
    struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
    assert_string_equal(err.message, "failed to write stdin: Broken pipe");
    assert_int_equal(err.os_error, EPIPE);
    request.stdin_failure = BS_STDIN_FAILURE_IGNORE;
    struct bs_exec_result result = run_to_result(&request);
    assert_true(result.success);
    assert_int_equal(result.termination, BS_ENDED_EXIT);
    assert_text(&result.out, "out\n");
    bs_exec_result_clear(&result);
}

static void an_unread_debug_copy_leaves_no_descriptor(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_true(before >= 0);
    (void)close(ends[0]);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    struct bs_exec_request request = SHELL("echo out; echo err >&2");
    request.debug = true;
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_exec_run(&request, &result, &err);
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    (void)close(before);
    (void)close(ends[1]);
    assert_int_equal(code, BS_OK);
    assert_text(&result.out, "out\n");
    assert_text(&result.err, "err\n");
    bs_exec_result_clear(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(both_streams_are_kept_apart),
        leaves_nothing(output_for_a_callback_is_not_kept),
        leaves_nothing(with_a_callback_the_result_has_only_the_annotation),
        leaves_nothing(a_byte_beyond_the_cap_ends_the_run),
        leaves_nothing(a_truncated_stream_is_named),
        leaves_nothing(two_truncated_streams_are_named),
        leaves_nothing(output_of_exactly_the_cap_is_not_truncated),
        leaves_nothing(the_cap_also_limits_a_callback),
        leaves_nothing(megabytes_on_both_streams_arrive_completely),
        leaves_nothing(a_payload_comes_back_through_cat),
        leaves_nothing(an_empty_payload_is_end_of_file_at_once),
        leaves_nothing(an_unread_payload_is_an_error),
        leaves_nothing(an_unread_debug_copy_leaves_no_descriptor),
    };
    return cmocka_run_group_tests_name("exec/run: output", tests, NULL, NULL);
}
