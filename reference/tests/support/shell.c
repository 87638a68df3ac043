#define _GNU_SOURCE
#include "support/shell.h"

#include <string.h>

#include "support/harness.h"

struct bs_exec_request shell_request(const char *const *args) {
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = "/bin/sh";
    request.args = args;
    request.n_args = 2;
    request.stdin_mode = BS_STDIN_NULL;
    return request;
}

struct bs_exec_result run_to_result(const struct bs_exec_request *request) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    if (bs_exec_run(request, &result, &err) != BS_OK)
        fail_msg("no result but the error: %s", err.message);
    return result;
}

struct bs_error run_to_error(const struct bs_exec_request *request, int code) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(bs_exec_run(request, &result, &err), code);
    assert_int_equal(err.code, code);
    assert_null(result.out.data);
    assert_null(result.err.data);
    assert_false(result.success);
    return err;
}

void assert_text(const struct bs_bytes *bytes, const char *text) {
    assert_int_equal(bytes->len, strlen(text));
    if (bytes->len > 0)
        assert_string_equal(bytes->data, text);
}
