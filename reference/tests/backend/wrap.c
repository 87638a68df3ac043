/* Tests the wrapped command of a program: the command of the backend, its environment, and which
 * side frees which memory. */
#define _GNU_SOURCE
#include "backend/pretended.h"

#include <stdlib.h>

#include "support/allocations.h"
#include "support/folder.h"

static const char *const command[] = {"/bin/env", "-i", "prog", NULL};

struct seat {
    struct folder *folder;
    struct pretended pretended;
    struct bs_backend backend;
    struct bs_session *session;
    struct bs_sandbox sandbox;
    char calls[256]; /* the calls that the log received, for example "probe prepare wrap=0 " */
};

static void note(void *ctx, const char *call, int code, const char *message,
                 const struct bs_backend_report *report, const struct bs_wrapped *wrapped) {
    struct seat *seat = ctx;
    size_t len = strlen(seat->calls);
    (void)report;
    assert_true((code != BS_OK) == (message != NULL));
    assert_true(strcmp(call, "wrap") != 0 || (code == BS_OK) == (wrapped != NULL));
    (void)snprintf(seat->calls + len, sizeof seat->calls - len, "%s=%d ", call, code);
}

static int take_seat(void **state, enum bs_claim claim, enum bs_confine confine) {
    static struct seat seat;
    seat = (struct seat){.pretended = {.claim = claim, .argv = command}};
    seat.backend = pretended_backend(&seat.pretended);
    *state = &seat;
    if (folder_setup((void **)&seat.folder) != 0)
        return -1;
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    const struct bs_session_log log = {&seat, note};
    context.root = seat.folder->path;
    context.confine = confine;
    int code =
        bs_session_open(&seat.backend, &context, BS_DEGRADE, &log, &seat.session, &report, NULL);
    bs_backend_report_clear(&report);
    if (code == BS_OK)
        seat.sandbox = bs_session_sandbox(seat.session);
    seat.calls[0] = '\0';
    return code;
}

static int sit(void **state) { return take_seat(state, BS_CLAIM_FULLY, BS_CONFINE_REPO_WRITE); }

static int sit_in_ci(void **state) { return take_seat(state, BS_CLAIM_FULLY, BS_CONFINE_CI_ONLY); }

static int sit_outside(void **state) {
    return take_seat(state, BS_CLAIM_UNAVAILABLE, BS_CONFINE_REPO_WRITE);
}

static int stand_up(void **state) {
    struct seat *seat = *state;
    int code = bs_session_close(seat->session, NULL);
    return folder_teardown((void **)&seat->folder) == 0 ? code : -1;
}

static int wrap(struct seat *seat, struct bs_wrapped *wrapped, struct bs_error *err) {
    static const char *const args[] = {"a", "b"};
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    request.program = "prog";
    request.args = args;
    request.n_args = 2;
    *wrapped = (struct bs_wrapped){.argv = NULL};
    return seat->sandbox.wrap(seat->sandbox.ctx, &request, wrapped, err);
}

static const char *value_of(const struct bs_wrapped *wrapped, const char *name) {
    const char *value = NULL;
    for (size_t i = 0; i < wrapped->n_env; i++) {
        if (strcmp(wrapped->env[i].name, name) == 0)
            value = wrapped->env[i].value;
    }
    return value;
}

static void the_command_comes_from_the_backend(void **state) {
    struct seat *seat = *state;
    struct bs_wrapped wrapped;
    assert_int_equal(wrap(seat, &wrapped, NULL), BS_OK);
    assert_ptr_equal(wrapped.argv, command);
    assert_string_equal(seat->pretended.cwd, bs_session_cwd(seat->session));
    seat->sandbox.unwrap(seat->sandbox.ctx, &wrapped);
    assert_int_equal(seat->pretended.unwrapped, 1);
    assert_string_equal(seat->calls, "wrap=0 ");
}

static void a_request_may_start_in_another_directory_inside(void **state) {
    struct seat *seat = *state;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_wrapped wrapped = {.argv = NULL};
    request.program = "prog";
    request.current_dir = "/somewhere";
    assert_int_equal(seat->sandbox.wrap(seat->sandbox.ctx, &request, &wrapped, NULL), BS_OK);
    assert_string_equal(seat->pretended.cwd, "/somewhere");
    seat->sandbox.unwrap(seat->sandbox.ctx, &wrapped);
}

static void assert_value(const struct bs_wrapped *wrapped, const char *name, const char *value) {
    const char *found = value_of(wrapped, name);
    if (value == NULL ? found != NULL : found == NULL || strcmp(found, value) != 0)
        fail_msg("%s is %s", name, found != NULL ? found : "not there");
}

/* The wrapped environment is complete: the variables of the caller must not be added to it.
 * Variables of the backend override those of the request. */
static void the_environment_is_complete(void **state) {
    struct seat *seat = *state;
    struct bs_wrapped wrapped;
    assert_int_equal(setenv("LANG", "caller", 1), 0);
    assert_int_equal(setenv("TMPDIR", "/caller", 1), 0);
    assert_int_equal(setenv("BS_SEAT_SECRET", "caller", 1), 0);
    seat->pretended.env = (struct bs_env_pair){"TMPDIR", "/backend"};
    assert_int_equal(wrap(seat, &wrapped, NULL), BS_OK);
    assert_true(wrapped.clears_env);
    assert_value(&wrapped, "LANG", "caller");
    assert_value(&wrapped, "TMPDIR", "/backend");
    assert_value(&wrapped, "BS_SEAT_SECRET", NULL);
    seat->sandbox.unwrap(seat->sandbox.ctx, &wrapped);
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

static void ci_only_passes_on_only_PATH(void **state) {
    struct seat *seat = *state;
    struct bs_wrapped wrapped;
    assert_int_equal(setenv("LANG", "caller", 1), 0);
    assert_int_equal(wrap(seat, &wrapped, NULL), BS_OK);
    assert_true(wrapped.clears_env);
    assert_value(&wrapped, "PATH", getenv("PATH"));
    assert_value(&wrapped, "LANG", NULL);
    seat->sandbox.unwrap(seat->sandbox.ctx, &wrapped);
}

static void an_empty_command_is_an_error(void **state) {
    struct seat *seat = *state;
    static const char *const empty[] = {NULL};
    const char *const *const nothing[] = {NULL, empty};
    for (size_t i = 0; i < LENGTH(nothing); i++) {
        struct bs_wrapped wrapped;
        struct bs_error err = BS_ERROR_INIT;
        seat->pretended.argv = nothing[i];
        assert_int_equal(wrap(seat, &wrapped, &err), BS_E_EXECUTION);
        assert_string_equal(err.message,
                            "the backend pretended wrapped `prog` into an empty command");
    }
    assert_int_equal(seat->pretended.unwrapped,
                     /* only the results of `empty` are unwrapped, because only these have memory to
                      * free */
                     1);
}

static void an_error_of_the_backend_is_an_error_of_the_run(void **state) {
    struct seat *seat = *state;
    struct bs_wrapped wrapped;
    struct bs_error err = BS_ERROR_INIT;
    seat->pretended.wrap_code = BS_E_IO;
    assert_int_equal(wrap(seat, &wrapped, &err), BS_E_EXECUTION);
    assert_string_equal(err.message, "it pretends to fail");
    assert_int_equal(seat->pretended.unwrapped, 0);
}

static void a_session_without_a_backend_does_not_wrap(void **state) {
    struct seat *seat = *state;
    struct bs_wrapped wrapped;
    assert_int_equal(bs_session_enforcement(seat->session), BS_CLAIM_UNAVAILABLE);
    (void)setenv("BOXSPEC_SECRET", "x", 1);
    assert_int_equal(wrap(seat, &wrapped, NULL), BS_OK);
    assert_string_equal(wrapped.argv[0], "prog");
    assert_string_equal(wrapped.argv[1], "a");
    assert_string_equal(wrapped.argv[2], "b");
    assert_null(wrapped.argv[3]);
    /* the program gets the same variables as in a sandbox */
    assert_true(wrapped.clears_env);
    for (size_t i = 0; i < wrapped.n_env; i++)
        assert_string_not_equal(wrapped.env[i].name, "BOXSPEC_SECRET");
    seat->sandbox.unwrap(seat->sandbox.ctx, &wrapped);
    assert_int_equal(seat->pretended.wrapped + seat->pretended.unwrapped, 0);
}

static void a_working_directory_outside_is_refused_first(void **state) {
    struct seat *seat = *state;
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_error err = BS_ERROR_INIT;
    request.program = "prog";
    request.current_dir = "/";
    assert_int_equal(seat->sandbox.validate(seat->sandbox.ctx, &request, &err), BS_E_INVALID);
    assert_true(err.message[0] != '\0');
    request.current_dir = seat->folder->path;
    assert_int_equal(seat->sandbox.validate(seat->sandbox.ctx, &request, NULL), BS_OK);
}

static int wrap_once(const void *context, struct bs_error *err) {
    struct seat *seat = (struct seat *)context;
    struct bs_wrapped wrapped;
    unsigned wrapped_before = seat->pretended.wrapped;
    unsigned unwrapped_before = seat->pretended.unwrapped;
    int code = wrap(seat, &wrapped, err);
    if (code == BS_OK)
        seat->sandbox.unwrap(seat->sandbox.ctx, &wrapped);
    /* Every wrapped command must be unwrapped, even if a later step fails. */
    assert_int_equal(seat->pretended.wrapped - wrapped_before,
                     seat->pretended.unwrapped - unwrapped_before);
    seat->calls[0] = '\0';
    return code;
}

static void a_failed_allocation_keeps_no_memory(void **state) {
    each_allocation_fails(wrap_once, *state, BS_OK, 2);
}

#define SEATED(test) cmocka_unit_test_setup_teardown(test, sit, stand_up)

int main(void) {
    const struct CMUnitTest tests[] = {
        SEATED(the_command_comes_from_the_backend),
        SEATED(a_request_may_start_in_another_directory_inside),
        SEATED(the_environment_is_complete),
        cmocka_unit_test_setup_teardown(ci_only_passes_on_only_PATH, sit_in_ci, stand_up),
        SEATED(an_empty_command_is_an_error),
        SEATED(an_error_of_the_backend_is_an_error_of_the_run),
        cmocka_unit_test_setup_teardown(a_session_without_a_backend_does_not_wrap, sit_outside,
                                        stand_up),
        SEATED(a_working_directory_outside_is_refused_first),
        SEATED(a_failed_allocation_keeps_no_memory),
    };
    return cmocka_run_group_tests_name("backend/wrap", tests, NULL, NULL);
}
