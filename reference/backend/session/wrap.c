/* What one program is wrapped in: the command of the backend, and the environment of its contract.
 */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <errno.h>
#include <stdlib.h>

#include "backend/internal.h"
#include "backend/session/session.h"
#include "base/error.h"

void bs_session_tell(const struct bs_session *session, const char *call, int code,
                     const struct bs_error *err, const struct bs_backend_report *report,
                     const struct bs_wrapped *wrapped) {
    if (session->log.called != NULL)
        session->log.called(session->log.ctx, call, code,
                            code != BS_OK && err != NULL ? err->message : NULL, report, wrapped);
}

static int wrap(const struct bs_session *session, const struct bs_exec_request *request,
                const char *cwd, struct bs_wrapped *wrapped, struct bs_error *err) {
    const struct bs_backend *backend = session->backend;
    int code = backend->wrap(backend->ctx, session->state, request, cwd, wrapped, err);
    if (code == BS_OK && (wrapped->argv == NULL || wrapped->argv[0] == NULL))
        code =
            bs_fail(err, BS_E_EXECUTION, 0, "the backend %s wrapped `%.900s` into an empty command",
                    backend->name, request->program);
    bs_session_tell(session, "wrap", code, err, NULL, code == BS_OK ? wrapped : NULL);
    return code == BS_OK ? BS_OK : BS_E_EXECUTION;
}

static void unwrap(const struct bs_session *session, struct bs_wrapped *wrapped) {
    const struct bs_backend *backend = session->backend;
    if (wrapped->argv != NULL && backend->unwrap != NULL)
        backend->unwrap(backend->ctx, session->state, wrapped);
}

static int hand_over(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                     struct bs_error *err) {
    (void)request;
    (void)err;
    *out = *(const struct bs_wrapped *)ctx;
    return BS_OK;
}

int bs_seat_run(struct bs_wrapped *wrapped, const struct bs_exec_request *request,
                struct bs_exec_result *result, struct bs_error *err) {
    const struct bs_sandbox sandbox = {wrapped, NULL, hand_over, NULL};
    struct bs_exec_request inner = *request;
    inner.sandbox = &sandbox;
    return bs_exec_run(&inner, result, err);
}

/* What one program is wrapped in, until it was run. */
struct seat {
    struct bs_wrapped wrapped; /* the backend's; argv NULL: nothing */
    struct bs_env_list env;
    const char **argv; /* of a session without a backend: the command as it is */
};

static void free_seat(const struct bs_session *session, struct seat *seat) {
    if (session->backend != NULL)
        unwrap(session, &seat->wrapped);
    bs_env_list_clear(&seat->env);
    free(seat->argv);
    free(seat);
}

static int as_it_is(const struct bs_exec_request *request, struct seat *seat,
                    struct bs_wrapped *out, struct bs_error *err) {
    seat->argv = calloc(request->n_args + 2, sizeof *seat->argv);
    if (seat->argv == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for `%.900s`", request->program);
    seat->argv[0] = request->program;
    for (size_t i = 0; i < request->n_args; i++)
        seat->argv[i + 1] = request->args[i];
    *out = (struct bs_wrapped){.argv = seat->argv};
    return BS_OK;
}

static int seat_in_backend(const struct bs_session *session, const struct bs_exec_request *request,
                           struct seat *seat, struct bs_wrapped *out, struct bs_error *err) {
    const char *cwd = request->current_dir != NULL ? request->current_dir : bs_session_cwd(session);
    int code = wrap(session, request, cwd, &seat->wrapped, err);
    if (code != BS_OK)
        return code;
    int os_error = bs_env_compose(&seat->env, request->env_mode == BS_ENV_INHERIT,
                                  bs_kept_context(session->kept)->confine == BS_CONFINE_CI_ONLY,
                                  seat->wrapped.env, seat->wrapped.n_env);
    if (os_error != 0)
        return bs_fail(err, BS_E_EXECUTION, os_error, "out of memory for `%.900s`",
                       request->program);
    *out = seat->wrapped;
    out->env = seat->env.pairs;
    out->n_env = seat->env.n;
    out->clears_env = true;
    return BS_OK;
}

int bs_seat_wrap(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                 struct bs_error *err) {
    const struct bs_session *session = ctx;
    if (session->interrupted != 0)
        return bs_fail(err, BS_E_EXECUTION, EINTR,
                       "failed to spawn `%.900s`: a signal came before the sandbox was there",
                       request->program);
    struct seat *seat = calloc(1, sizeof *seat);
    if (seat == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for `%.900s`", request->program);
    int code = session->backend != NULL ? seat_in_backend(session, request, seat, out, err)
                                        : as_it_is(request, seat, out, err);
    if (code != BS_OK)
        free_seat(session, seat);
    else
        out->own = seat;
    return code;
}

void bs_seat_unwrap(void *ctx, struct bs_wrapped *out) { free_seat(ctx, out->own); }

static int seat_check(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    const struct bs_session *session = ctx;
    return bs_context_check_dir(bs_kept_context(session->kept), request->current_dir, err);
}

struct bs_sandbox bs_session_sandbox(struct bs_session *session) {
    return (struct bs_sandbox){session, seat_check, bs_seat_wrap, bs_seat_unwrap};
}

const char *bs_session_cwd(const struct bs_session *session) {
    const struct bs_backend_context *context = bs_kept_context(session->kept);
    return context->cwd != NULL ? context->cwd : context->root;
}
