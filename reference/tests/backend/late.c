/* A session that the first request opens: for whose directory, how often, and what is left. */
#define _GNU_SOURCE
#include "backend/pretended.h"
#include "support/folder.h"

static const char *const command[] = {"/bin/true", NULL};

struct late {
    struct folder *folder;
    struct pretended pretended;
    struct bs_backend backend;
    struct bs_backend_context context;
    struct bs_late_session *session;
};

static int make(void **state) {
    static struct late late;
    late = (struct late){.pretended = {.claim = BS_CLAIM_FULLY, .argv = command},
                         .context = BS_BACKEND_CONTEXT_INIT};
    late.backend = pretended_backend(&late.pretended);
    *state = &late;
    if (folder_setup((void **)&late.folder) != 0)
        return -1;
    folder_add_folder(late.folder, "one");
    folder_add_folder(late.folder, "other");
    return bs_late_session_make(&late.backend, &late.context, BS_REFUSE, &late.session, NULL);
}

static int end(void **state) {
    struct late *late = *state;
    int code = bs_late_session_close(late->session, NULL);
    return folder_teardown((void **)&late->folder) == 0 ? code : -1;
}

static int validate(struct late *late, const char *name, struct bs_error *err) {
    const struct bs_sandbox *sandbox = bs_late_session_sandbox(late->session);
    static const char *const readable[] = {"/usr/share"};
    char dir[128];
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    (void)snprintf(dir, sizeof dir, "%s/%s", late->folder->path, name);
    request.program = "prog";
    request.current_dir = dir;
    request.readable = readable;
    request.n_readable = 1;
    return sandbox->validate(sandbox->ctx, &request, err);
}

static void the_first_request_names_the_workspace(void **state) {
    struct late *late = *state;
    char root[128];
    (void)snprintf(root, sizeof root, "%s/one", late->folder->path);
    assert_null(bs_late_session_opened(late->session));
    assert_int_equal(validate(late, "one", NULL), BS_OK);
    assert_non_null(bs_late_session_opened(late->session));
    assert_string_equal(late->pretended.root, root);
    assert_string_equal(late->pretended.readable, "/usr/share");
    assert_string_equal(bs_session_cwd(bs_late_session_opened(late->session)), root);
    assert_int_equal(bs_late_session_report(late->session)->overall, BS_CLAIM_FULLY);
}

static void it_is_opened_once_and_for_that_directory_alone(void **state) {
    struct late *late = *state;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(validate(late, "one", NULL), BS_OK);
    assert_int_equal(validate(late, "one", NULL), BS_OK);
    assert_int_equal(validate(late, "other", &err), BS_E_INVALID);
    assert_true(err.message[0] != '\0');
    assert_int_equal(late->pretended.prepared, 1);
}

static void what_the_context_has_of_its_own_is_not_looked_at(void **state) {
    struct late *late = *state;
    static const char *const none[] = {"/no/such/path"};
    assert_int_equal(bs_late_session_close(late->session, NULL), BS_OK);
    late->context.root = "/no/such/root";
    late->context.cwd = "/no/such/root/cwd";
    late->context.readable = none;
    late->context.n_readable = 1;
    assert_int_equal(
        bs_late_session_make(&late->backend, &late->context, BS_REFUSE, &late->session, NULL),
        BS_OK);
    assert_int_equal(validate(late, "one", NULL), BS_OK);
    assert_string_equal(late->pretended.readable, "/usr/share");
}

static void a_refusal_is_the_first_requests(void **state) {
    struct late *late = *state;
    struct bs_error err = BS_ERROR_INIT;
    late->pretended.claim = BS_CLAIM_PARTIAL;
    assert_int_equal(validate(late, "one", &err), BS_E_DENIED);
    assert_non_null(strstr(err.message, "refused by the sandbox: pretended is partial"));
    assert_null(bs_late_session_opened(late->session));
    assert_int_equal(bs_late_session_report(late->session)->overall, BS_CLAIM_PARTIAL);
    assert_int_equal(late->pretended.prepared, 0);
    /* The next one may be luckier. */
    late->pretended.claim = BS_CLAIM_FULLY;
    assert_int_equal(validate(late, "one", &err), BS_OK);
}

static void its_commands_are_those_of_the_session(void **state) {
    struct late *late = *state;
    const struct bs_sandbox *sandbox = bs_late_session_sandbox(late->session);
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_wrapped wrapped = {.argv = NULL};
    request.program = "prog";
    assert_int_equal(validate(late, "one", NULL), BS_OK);
    assert_int_equal(sandbox->wrap(sandbox->ctx, &request, &wrapped, NULL), BS_OK);
    assert_ptr_equal(wrapped.argv, command);
    assert_string_equal(late->pretended.cwd, late->pretended.root);
    assert_int_equal(late->pretended.unwrapped, 0);
    sandbox->unwrap(sandbox->ctx, &wrapped);
    assert_int_equal(late->pretended.unwrapped, 1);
}

static void closing_shuts_down_what_was_opened(void **state) {
    struct late *late = *state;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(validate(late, "one", NULL), BS_OK);
    late->pretended.shutdown_code = BS_E_IO;
    assert_int_equal(bs_late_session_close(late->session, &err), BS_E_IO);
    assert_string_equal(err.message, "it pretends to stay");
    late->session = NULL;
    assert_int_equal(late->pretended.shut_down, 1);
}

static void closing_what_was_never_opened_shuts_down_nothing(void **state) {
    struct late *late = *state;
    assert_int_equal(bs_late_session_close(late->session, NULL), BS_OK);
    late->session = NULL;
    assert_int_equal(bs_late_session_close(NULL, NULL), BS_OK);
    assert_int_equal(late->pretended.shut_down, 0);
}

#define LATE(test) cmocka_unit_test_setup_teardown(test, make, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        LATE(the_first_request_names_the_workspace),
        LATE(it_is_opened_once_and_for_that_directory_alone),
        LATE(what_the_context_has_of_its_own_is_not_looked_at),
        LATE(a_refusal_is_the_first_requests),
        LATE(its_commands_are_those_of_the_session),
        LATE(closing_shuts_down_what_was_opened),
        LATE(closing_what_was_never_opened_shuts_down_nothing),
    };
    return cmocka_run_group_tests_name("backend/late", tests, NULL, NULL);
}
