/* Tests bs_module_execute. This program is also the runner of its modules (see main). */
#define _GNU_SOURCE
#include <boxspec/module.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "support/folder.h"
#include "support/harness.h"
#include "support/holdings.h"

static struct bs_module_request asking(const struct folder *folder, const char *id,
                                       const char *input) {
    struct bs_module_request request = BS_MODULE_REQUEST_INIT;
    request.id = id;
    request.input = input;
    request.input_len = strlen(input);
    request.extensions_root = folder->path;
    return request;
}

static struct bs_module_result executed(const struct bs_module_request *request) {
    struct bs_module_result result = BS_MODULE_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct holdings before = holdings_now();
    if (bs_module_execute(request, &result, &err) != BS_OK)
        fail_msg("not judged: %s", err.message);
    assert_int_equal(result.left.len, 0);
    assert_nothing_left(before);
    return result;
}

/* Execute a script as a module, and fail unless it has this outcome. */
static struct bs_module_result script(void **state, const char *body, const char *input,
                                      enum bs_module_outcome outcome) {
    const struct folder *folder = *state;
    char text[512];
    (void)snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
    folder_add_file(folder, "module", text, 0755);
    struct bs_module_request request = asking(folder, "module", input);
    struct bs_module_result result = executed(&request);
    if (result.outcome != outcome)
        fail_msg("%s, wanted %s: %s %s", bs_module_outcome_name(result.outcome),
                 bs_module_outcome_name(outcome), result.message,
                 result.stderr_text.len > 0 ? result.stderr_text.data : "");
    (void)unlinkat(folder->fd, "module", 0);
    return result;
}

static void a_value_is_its_text_without_surrounding_blanks(void **state) {
    struct bs_module_result result =
        script(state, "echo; cat; echo ' '", "{\"a\": [1.50, 1e400]}", BS_MODULE_VALUE);
    assert_string_equal(result.value.data, "{\"a\": [1.50, 1e400]}");
    assert_int_equal(result.value.len, strlen(result.value.data));
    bs_module_result_clear(&result);
    bs_module_result_clear(&result);
}

static void each_kind_of_end_has_its_outcome(void **state) {
    struct bs_module_result result =
        script(state, "echo sorry >&2; exit 3", "1", BS_MODULE_NON_ZERO_EXIT);
    assert_int_equal(result.exit_code, 3);
    assert_string_equal(result.stderr_text.data, "sorry\n");
    bs_module_result_clear(&result);
    result = script(state, "kill -USR1 $$", "1", BS_MODULE_SIGNALED);
    assert_int_equal(result.signal, SIGUSR1);
    bs_module_result_clear(&result);
    result = script(state, "echo 1 2", "1", BS_MODULE_OUTPUT_PARSE);
    assert_non_null(strstr(result.message, "line 1, column 3"));
    bs_module_result_clear(&result);
    result = script(state, "head -c 67108865 /dev/zero >&2; sleep 60", "1", BS_MODULE_OUTPUT_SIZE);
    assert_int_equal(result.stream, BS_STDERR);
    bs_module_result_clear(&result);
}

static void zero_stands_for_the_default(void **state) {
    const struct folder *folder = *state;
    folder_add_file(folder, "module", "#!/bin/sh\nexec sleep 60\n", 0755);
    struct bs_module_request request = asking(folder, "module", "1");
    request.timeout_ms = 50;
    struct bs_module_result result = executed(&request);
    assert_int_equal(result.outcome, BS_MODULE_TIMEOUT);
    assert_int_equal(result.timeout_ms, 50);
    bs_module_result_clear(&result);
    request.id = "other";
    request.timeout_ms = 0;
    result = executed(&request);
    assert_int_equal(result.outcome, BS_MODULE_SPAWN_FAILED);
    assert_int_equal(result.timeout_ms, BS_MODULE_TIMEOUT_MS);
    bs_module_result_clear(&result);
}

static void a_runner_that_cannot_be_started_is_reported(void **state) {
    const struct folder *folder = *state;
    folder_add_file(folder, "module", "#!/bin/sh\n", 0755);
    struct bs_module_request request = asking(folder, "module", "1");
    request.runner_argv = (const char *const[]){"/no/such/runner", NULL};
    struct bs_module_result result = executed(&request);
    assert_int_equal(result.outcome, BS_MODULE_SPAWN_FAILED);
    assert_non_null(strstr(result.message, "failed to spawn `/no/such/runner`"));
    bs_module_result_clear(&result);
    request.runner_argv = (const char *const[]){"/bin/echo", "-n", NULL};
    result = executed(&request);
    /* the program was `echo`, so the output is the list of its arguments */
    assert_int_equal(result.outcome, BS_MODULE_OUTPUT_PARSE);
    bs_module_result_clear(&result);
}

static void an_invalid_request_is_an_error(void **state) {
    const struct folder *folder = *state;
    struct bs_module_result result;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_module_request request = asking(folder, "module", "1 2");
    assert_int_equal(bs_module_execute(&request, &result, &err), BS_E_INVALID);
    assert_non_null(strstr(err.message, "line 1, column 3"));
    request = asking(folder, NULL, "1");
    assert_int_equal(bs_module_execute(&request, &result, &err), BS_E_INVALID);
    request = asking(folder, "module", "1");
    request.input = NULL;
    assert_int_equal(bs_module_execute(&request, &result, NULL), BS_E_INVALID);
    assert_int_equal(result.outcome, BS_MODULE_NONE);
}

static int refuse(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    assert_string_equal(request->args[request->n_args - 1], "module");
    assert_string_equal(request->args[request->n_args - 2], BS_MODULE_RUNNER);
    return bs_fail(err, BS_E_DENIED, 0, "%s", (const char *)ctx);
}

static void a_sandbox_may_refuse_the_run(void **state) {
    const struct folder *folder = *state;
    char words[] = "not here";
    const struct bs_sandbox sandbox = {words, refuse, NULL, NULL};
    struct bs_module_result result;
    struct bs_error err = BS_ERROR_INIT;
    folder_add_file(folder, "module", "#!/bin/sh\n", 0755);
    struct bs_module_request request = asking(folder, "module", "1");
    request.sandbox = &sandbox;
    assert_int_equal(bs_module_execute(&request, &result, &err), BS_E_DENIED);
    assert_string_equal(err.message, "not here");
}

static int interrupt(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    (void)ctx;
    (void)request;
    (void)err;
    return raise(SIGTERM);
}

static void a_signal_before_the_run_begins_interrupts_it(void **state) {
    const struct folder *folder = *state;
    const struct bs_sandbox sandbox = {NULL, interrupt, NULL, NULL};
    folder_add_file(folder, "module", "#!/bin/sh\nexec sleep 60\n", 0755);
    struct bs_module_request request = asking(folder, "module", "1");
    request.sandbox = &sandbox;
    request.timeout_ms = 10000;
    struct bs_module_result result = executed(&request);
    assert_int_equal(result.outcome, BS_MODULE_INTERRUPTED);
    assert_int_equal(result.signal, SIGTERM);
    bs_module_result_clear(&result);
}

static int answer(void *ctx, const char *id, const char *input, size_t input_len,
                  struct bs_bytes *output, struct bs_error *err) {
    if (ctx != NULL)
        return bs_fail(err, BS_E_EXECUTION, 0, "%s fails", id);
    output->data = strndup(input, input_len);
    output->len = input_len;
    return output->data != NULL ? BS_OK : BS_E_EXECUTION;
}

static void a_disabled_module_runs_the_callback(void **state) {
    const struct folder *folder = *state;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_module_request request = asking(folder, "any id", " [1] ");
    request.enabled = false;
    struct bs_module_result result = executed(&request);
    assert_int_equal(result.outcome, BS_MODULE_NOT_WIRED);
    bs_module_result_clear(&result);
    request.function = answer;
    result = executed(&request);
    assert_int_equal(result.outcome, BS_MODULE_VALUE);
    assert_string_equal(result.value.data, "[1]");
    bs_module_result_clear(&result);
    request.function_ctx = &request;
    assert_int_equal(bs_module_execute(&request, &result, &err), BS_E_EXECUTION);
    assert_string_equal(err.message, "any id fails");
}

static void a_signal_interrupts(void **state) {
    const struct folder *folder = *state;
    folder_add_file(folder, "module", "#!/bin/sh\nkill -TERM $PPID; exec sleep 60\n", 0755);
    struct bs_module_request request = asking(folder, "module", "1");
    struct bs_module_result result = executed(&request);
    assert_int_equal(result.outcome, BS_MODULE_INTERRUPTED);
    assert_int_equal(result.signal, SIGTERM);
    bs_module_result_clear(&result);
}

static void a_number_that_a_process_could_continue_is_no_value(void **state) {
    const struct folder *folder = *state;
    static const struct {
        const char *script;
        enum bs_module_outcome outcome;
    } rows[] = {
        {"printf 12; (echo >f; exec sleep 60) 2>/dev/null & read x <f\n", BS_MODULE_OUTPUT_PARSE},
        {"echo 12; (echo >f; exec sleep 60) 2>/dev/null & read x <f\n", BS_MODULE_VALUE},
        {"printf '[12]'; (echo >f; exec sleep 60) 2>/dev/null & read x <f\n", BS_MODULE_VALUE},
        {"printf 12; (exec >/dev/null; echo >f; exec sleep 60) & read x <f\n", BS_MODULE_VALUE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char script[256];
        const char id[] = {(char)('a' + i), '\0'};
        (void)snprintf(script, sizeof script, "#!/bin/sh\nmkfifo f; %s", rows[i].script);
        folder_add_file(folder, id, script, 0755);
        struct bs_module_request request = asking(folder, id, "1");
        struct bs_module_result result = executed(&request);
        assert_int_equal(result.outcome, rows[i].outcome);
        bs_module_result_clear(&result);
    }
}

int main(int argc, char **argv) {
    bs_module_runner_main(argc, argv);
#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        in_a_folder(a_value_is_its_text_without_surrounding_blanks),
        in_a_folder(each_kind_of_end_has_its_outcome),
        in_a_folder(zero_stands_for_the_default),
        in_a_folder(a_runner_that_cannot_be_started_is_reported),
        in_a_folder(an_invalid_request_is_an_error),
        in_a_folder(a_sandbox_may_refuse_the_run),
        in_a_folder(a_signal_before_the_run_begins_interrupts_it),
        in_a_folder(a_disabled_module_runs_the_callback),
        in_a_folder(a_signal_interrupts),
        in_a_folder(a_number_that_a_process_could_continue_is_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
