/* Tests a session that opens on first use. */
#define _GNU_SOURCE
#include "backend/pretended.h"
#include "support/folder.h"

static const char *const command[] = {"/bin/true", NULL};

struct lazy {
    struct folder *folder;
    struct pretended pretended;
    struct bs_backend backend;
    struct bs_backend_context context;
    struct bs_lazy_session *session;
};

static int setup(void **state) {
    static struct lazy lazy;
    lazy = (struct lazy){.pretended = {.claim = BS_CLAIM_FULLY, .argv = command},
                         .context = BS_BACKEND_CONTEXT_INIT};
    lazy.backend = pretended_backend(&lazy.pretended);
    *state = &lazy;
    if (folder_setup((void **)&lazy.folder) != 0)
        return -1;
    folder_add_folder(lazy.folder, "one");
    folder_add_folder(lazy.folder, "other");
    return bs_lazy_session_open(&lazy.backend, &lazy.context, BS_REFUSE, NULL, &lazy.session, NULL);
}

static int teardown(void **state) {
    struct lazy *lazy = *state;
    int code = bs_lazy_session_close(lazy->session, NULL);
    return folder_teardown((void **)&lazy->folder) == 0 ? code : -1;
}

static int validate(struct lazy *lazy, const char *name, struct bs_error *err) {
    const struct bs_sandbox *sandbox = bs_lazy_session_sandbox(lazy->session);
    static const char *const readable[] = {"/usr/share"};
    char dir[128];
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    (void)snprintf(dir, sizeof dir, "%s/%s", lazy->folder->path, name);
    request.program = "prog";
    request.current_dir = dir;
    request.readable = readable;
    request.n_readable = 1;
    return sandbox->validate(sandbox->ctx, &request, err);
}

static void the_first_request_names_the_workspace(void **state) {
    struct lazy *lazy = *state;
    char root[128];
    (void)snprintf(root, sizeof root, "%s/one", lazy->folder->path);
    assert_null(bs_lazy_session_opened(lazy->session));
    assert_int_equal(validate(lazy, "one", NULL), BS_OK);
    assert_non_null(bs_lazy_session_opened(lazy->session));
    assert_string_equal(lazy->pretended.root, root);
    assert_string_equal(lazy->pretended.readable, "/usr/share");
    assert_string_equal(bs_session_cwd(bs_lazy_session_opened(lazy->session)), root);
    assert_int_equal(bs_lazy_session_report(lazy->session)->overall, BS_CLAIM_FULLY);
}

static void it_opens_once_and_refuses_another_directory(void **state) {
    struct lazy *lazy = *state;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(validate(lazy, "one", NULL), BS_OK);
    assert_int_equal(validate(lazy, "one", NULL), BS_OK);
    assert_int_equal(validate(lazy, "other", &err), BS_E_INVALID);
    assert_true(err.message[0] != '\0');
    assert_int_equal(lazy->pretended.prepared, 1);
}

static void cwd_and_readable_of_the_context_do_not_count_without_a_root(void **state) {
    struct lazy *lazy = *state;
    static const char *const none[] = {"/no/such/path"};
    assert_int_equal(bs_lazy_session_close(lazy->session, NULL), BS_OK);
    lazy->context.cwd = "/no/such/root/cwd";
    lazy->context.readable = none;
    lazy->context.n_readable = 1;
    assert_int_equal(
        bs_lazy_session_open(&lazy->backend, &lazy->context, BS_REFUSE, NULL, &lazy->session, NULL),
        BS_OK);
    assert_int_equal(validate(lazy, "one", NULL), BS_OK);
    assert_string_equal(lazy->pretended.readable, "/usr/share");
}

static void a_refused_session_is_the_error_of_the_first_request(void **state) {
    struct lazy *lazy = *state;
    struct bs_error err = BS_ERROR_INIT;
    lazy->pretended.claim = BS_CLAIM_PARTIAL;
    assert_int_equal(validate(lazy, "one", &err), BS_E_DENIED);
    assert_non_null(strstr(err.message, "refused by the sandbox: pretended is partial"));
    assert_null(bs_lazy_session_opened(lazy->session));
    assert_int_equal(bs_lazy_session_report(lazy->session)->overall, BS_CLAIM_PARTIAL);
    assert_int_equal(lazy->pretended.prepared, 0);
    /* Opening has failed once; the next request tries again. */
    lazy->pretended.claim = BS_CLAIM_FULLY;
    assert_int_equal(validate(lazy, "one", &err), BS_OK);
}

static void its_sandbox_wraps_as_the_session_does(void **state) {
    struct lazy *lazy = *state;
    const struct bs_sandbox *sandbox = bs_lazy_session_sandbox(lazy->session);
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_wrapped wrapped = {.argv = NULL};
    request.program = "prog";
    assert_int_equal(validate(lazy, "one", NULL), BS_OK);
    assert_int_equal(sandbox->wrap(sandbox->ctx, &request, &wrapped, NULL), BS_OK);
    assert_ptr_equal(wrapped.argv, command);
    assert_string_equal(lazy->pretended.cwd, lazy->pretended.root);
    assert_int_equal(lazy->pretended.unwrapped, 0);
    sandbox->unwrap(sandbox->ctx, &wrapped);
    assert_int_equal(lazy->pretended.unwrapped, 1);
}

static void closing_shuts_down_an_open_session(void **state) {
    struct lazy *lazy = *state;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(validate(lazy, "one", NULL), BS_OK);
    lazy->pretended.shutdown_code = BS_E_IO;
    assert_int_equal(bs_lazy_session_close(lazy->session, &err), BS_E_IO);
    assert_string_equal(err.message, "it pretends to stay");
    lazy->session = NULL;
    assert_int_equal(lazy->pretended.shut_down, 1);
}

static void closing_a_session_that_never_opened_shuts_down_nothing(void **state) {
    struct lazy *lazy = *state;
    assert_int_equal(bs_lazy_session_close(lazy->session, NULL), BS_OK);
    lazy->session = NULL;
    assert_int_equal(bs_lazy_session_close(NULL, NULL), BS_OK);
    assert_int_equal(lazy->pretended.shut_down, 0);
}

static void a_root_in_the_context_opens_it_at_once(void **state) {
    struct lazy *lazy = *state;
    char root[128];
    (void)snprintf(root, sizeof root, "%s/other", lazy->folder->path);
    assert_int_equal(bs_lazy_session_close(lazy->session, NULL), BS_OK);
    lazy->context.root = root;
    assert_int_equal(
        bs_lazy_session_open(&lazy->backend, &lazy->context, BS_REFUSE, NULL, &lazy->session, NULL),
        BS_OK);
    assert_string_equal(bs_session_cwd(bs_lazy_session_opened(lazy->session)), root);
    assert_int_equal(validate(lazy, "other", NULL), BS_OK);
    assert_int_equal(validate(lazy, "one", NULL), BS_E_INVALID);
    assert_int_equal(lazy->pretended.prepared, 1);
    lazy->context.root = NULL;
}

static void a_refused_root_leaves_its_report_until_closing(void **state) {
    struct lazy *lazy = *state;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(bs_lazy_session_close(lazy->session, NULL), BS_OK);
    lazy->context.root = lazy->folder->path;
    lazy->pretended.claim = BS_CLAIM_PARTIAL;
    assert_int_equal(
        bs_lazy_session_open(&lazy->backend, &lazy->context, BS_REFUSE, NULL, &lazy->session, &err),
        BS_E_DENIED);
    assert_null(bs_lazy_session_opened(lazy->session));
    assert_int_equal(bs_lazy_session_report(lazy->session)->overall, BS_CLAIM_PARTIAL);
}

static void null_is_a_session_that_is_not_open(void **state) {
    (void)state;
    assert_null(bs_lazy_session_opened(NULL));
    assert_null(bs_lazy_session_sandbox(NULL));
    assert_int_equal(bs_lazy_session_report(NULL)->n_warnings, 0);
    assert_int_equal(bs_lazy_session_close(NULL, NULL), BS_OK);
}

#define LAZY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        LAZY(the_first_request_names_the_workspace),
        LAZY(it_opens_once_and_refuses_another_directory),
        LAZY(cwd_and_readable_of_the_context_do_not_count_without_a_root),
        LAZY(a_root_in_the_context_opens_it_at_once),
        LAZY(a_refused_root_leaves_its_report_until_closing),
        cmocka_unit_test(null_is_a_session_that_is_not_open),
        LAZY(a_refused_session_is_the_error_of_the_first_request),
        LAZY(its_sandbox_wraps_as_the_session_does),
        LAZY(closing_shuts_down_an_open_session),
        LAZY(closing_a_session_that_never_opened_shuts_down_nothing),
    };
    return cmocka_run_group_tests_name("backend/lazy", tests, NULL, NULL);
}
