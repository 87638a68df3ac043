#define _GNU_SOURCE
#include <boxspec/exec.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

/* A sandbox for tests. It has the answers that the sandbox gives, and records the calls. */
struct sandbox {
    int code;
    struct bs_wrapped wrapped;
    unsigned validated;
    unsigned wraps;
    const struct bs_exec_request *seen;
    struct holdings held;
    bool handlers_were_there;
};

static void look_around(struct sandbox *sandbox, const struct bs_exec_request *request) {
    struct sigaction action;
    (void)sigaction(SIGTERM, NULL, &action);
    sandbox->handlers_were_there = action.sa_handler != SIG_DFL;
    sandbox->held = holdings_now();
    sandbox->seen = request;
}

static int validate(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    struct sandbox *sandbox = ctx;
    sandbox->validated++;
    look_around(sandbox, request);
    if (sandbox->code != BS_OK && err != NULL) {
        err->code = sandbox->code;
        (void)snprintf(err->message, sizeof err->message, "not on my watch");
    }
    return sandbox->code;
}

static int wrap(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                struct bs_error *err) {
    (void)err;
    struct sandbox *sandbox = ctx;
    sandbox->wraps++;
    look_around(sandbox, request);
    *out = sandbox->wrapped;
    return BS_OK;
}

static int wrap_fails(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                      struct bs_error *err) {
    (void)wrap(ctx, request, out, err);
    if (err != NULL) {
        err->code = BS_E_EXECUTION;
        (void)snprintf(err->message, sizeof err->message, "no rope");
    }
    return BS_E_EXECUTION;
}

static void a_refusal_comes_first(void **state) {
    (void)state;
    struct sandbox sandbox = {.code = BS_E_DENIED};
    const struct bs_sandbox seam = {&sandbox, validate, wrap, NULL};
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = "/no/such/program";
    request.current_dir = "/no/such/place";
    request.sandbox = &seam;
    struct holdings before = holdings_now();
    struct bs_error err = run_to_error(&request, BS_E_DENIED);
    assert_string_equal(err.message, "not on my watch");
    assert_ptr_equal(sandbox.seen, &request);
    assert_int_equal(sandbox.validated, 1);
    assert_int_equal(sandbox.wraps, 0);
    assert_false(sandbox.handlers_were_there);
    assert_int_equal(sandbox.held.descriptors, before.descriptors);
}

static void a_request_without_a_program_does_not_reach_the_sandbox(void **state) {
    (void)state;
    struct sandbox sandbox = {.code = BS_E_DENIED};
    const struct bs_sandbox seam = {&sandbox, validate, wrap, NULL};
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.sandbox = &seam;
    (void)run_to_error(&request, BS_E_INVALID);
    assert_int_equal(sandbox.validated, 0);
}

static void the_sandboxs_command_replaces_the_requests(void **state) {
    (void)state;
    struct sandbox sandbox = {
        .wrapped = {.argv = (const char *const[]){"/bin/sh", "-c", "echo wrapped $0 $1", "a b", "c",
                                                  NULL}}};
    const struct bs_sandbox seam = {&sandbox, validate, wrap, NULL};
    struct bs_exec_request request = SHELL("echo unwrapped");
    request.sandbox = &seam;
    struct bs_exec_result result = run_to_result(&request);
    assert_text(&result.out, "wrapped a b c\n");
    assert_int_equal(sandbox.validated, 1);
    assert_int_equal(sandbox.wraps, 1);
    assert_false(sandbox.handlers_were_there);
    bs_exec_result_clear(&result);
}

static void the_sandboxs_environment_wins(void **state) {
    (void)state;
    static const struct bs_env_pair env[] = {{"A", "request"}, {"B", "request"}};
    static const struct bs_env_pair more[] = {{"A", "sandbox"}, {"C", "sandbox"}};
    struct sandbox sandbox = {
        .wrapped = {.argv = (const char *const[]){"/bin/sh", "-c", "echo $A $B $C", NULL},
                    .env = more,
                    .n_env = 2}};
    const struct bs_sandbox seam = {&sandbox, NULL, wrap, NULL};
    struct bs_exec_request request = SHELL("exit 1");
    request.sandbox = &seam;
    request.env_mode = BS_ENV_CLEAR_AND_SET;
    request.env = env;
    request.n_env = 2;
    struct bs_exec_result result = run_to_result(&request);
    assert_text(&result.out, "sandbox request sandbox\n");
    bs_exec_result_clear(&result);
}

static void the_sandboxs_PATH_finds_its_program(void **state) {
    (void)state;
    static const struct bs_env_pair env[] = {{"PATH", "/no/such/place"}};
    static const struct bs_env_pair more[] = {{"PATH", "/bin"}};
    struct sandbox sandbox = {.wrapped = {.argv = (const char *const[]){"sh", "-c", "exit 5", NULL},
                                          .env = more,
                                          .n_env = 1}};
    const struct bs_sandbox seam = {&sandbox, NULL, wrap, NULL};
    struct bs_exec_request request = SHELL("exit 1");
    request.sandbox = &seam;
    request.env_mode = BS_ENV_CLEAR_AND_SET;
    request.env = env;
    request.n_env = 1;
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.exit_code, 5);
    bs_exec_result_clear(&result);
}

static void a_bad_program_of_the_sandbox_is_a_failed_spawn(void **state) {
    (void)state;
    static const struct bs_env_pair more[] = {{"A=B", "1"}};
    struct sandbox sandbox = {
        .wrapped = {.argv = (const char *const[]){"/bin/true", NULL}, .env = more, .n_env = 1}};
    const struct bs_sandbox seam = {&sandbox, NULL, wrap, NULL};
    struct bs_exec_request request = SHELL("exit 1");
    request.sandbox = &seam;
    struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
    assert_non_null(strstr(err.message, "failed to spawn"));
}

static void an_empty_command_never_means_an_unwrapped_run(void **state) {
    (void)state;
    static const char *const nothing[] = {NULL};
    const struct bs_wrapped empty[] = {{.argv = NULL}, {.argv = nothing}};
    for (size_t i = 0; i < LENGTH(empty); i++) {
        struct sandbox sandbox = {.wrapped = empty[i]};
        const struct bs_sandbox seam = {&sandbox, NULL, wrap, NULL};
        struct bs_exec_request request = SHELL("exit 0");
        request.sandbox = &seam;
        struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
        assert_non_null(strstr(err.message, "empty command"));
    }
}

static void a_wrap_that_fails_ends_the_run(void **state) {
    (void)state;
    struct sandbox sandbox = {.wrapped = {.argv = (const char *const[]){"/bin/true", NULL}}};
    const struct bs_sandbox seam = {&sandbox, NULL, wrap_fails, NULL};
    struct bs_exec_request request = SHELL("exit 0");
    request.sandbox = &seam;
    struct bs_error err = run_to_error(&request, BS_E_EXECUTION);
    assert_string_equal(err.message, "no rope");
}

static void a_sandbox_without_functions_has_no_effect(void **state) {
    (void)state;
    const struct bs_sandbox seam = {NULL, NULL, NULL, NULL};
    struct bs_exec_request request = SHELL("exit 6");
    request.sandbox = &seam;
    struct bs_exec_result result = run_to_result(&request);
    assert_int_equal(result.exit_code, 6);
    bs_exec_result_clear(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_refusal_comes_first),
        leaves_nothing(a_request_without_a_program_does_not_reach_the_sandbox),
        leaves_nothing(the_sandboxs_command_replaces_the_requests),
        leaves_nothing(the_sandboxs_environment_wins),
        leaves_nothing(the_sandboxs_PATH_finds_its_program),
        leaves_nothing(a_bad_program_of_the_sandbox_is_a_failed_spawn),
        leaves_nothing(an_empty_command_never_means_an_unwrapped_run),
        leaves_nothing(a_wrap_that_fails_ends_the_run),
        leaves_nothing(a_sandbox_without_functions_has_no_effect),
    };
    return cmocka_run_group_tests_name("exec/run: sandbox", tests, NULL, NULL);
}
