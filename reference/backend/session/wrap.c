/* Wraps a program: replaces it by the command of the backend, with the environment that the
 * contract defines. */
#define _GNU_SOURCE
#include "backend/session/wrap.h"

#include <boxspec/backend.h>

#include <errno.h>
#include <stdlib.h>

#include "backend/session/context_ref.h"
#include "backend/session/environment.h"
#include "backend/session/session.h"
#include "base/error.h"

void bs_session_log_call(const struct bs_session *session, const char *call, int code,
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
    bs_session_log_call(session, "wrap", code, err, NULL, code == BS_OK ? wrapped : NULL);
    return code == BS_OK ? BS_OK : BS_E_EXECUTION;
}

static void unwrap(const struct bs_session *session, struct bs_wrapped *wrapped) {
    const struct bs_backend *backend = session->backend;
    if (wrapped->argv != NULL && backend->unwrap != NULL)
        backend->unwrap(backend->ctx, session->state, wrapped);
}

static int take_wrapped(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                        struct bs_error *err) {
    (void)request;
    (void)err;
    *out = *(const struct bs_wrapped *)ctx;
    return BS_OK;
}

int bs_wrapped_run(struct bs_wrapped *wrapped, const struct bs_exec_request *request,
                   struct bs_exec_result *result, struct bs_error *err) {
    const struct bs_sandbox sandbox = {wrapped, NULL, take_wrapped, NULL};
    struct bs_exec_request inner = *request;
    inner.sandbox = &sandbox;
    return bs_exec_run(&inner, result, err);
}

/* Data of a wrapped command, freed when it is unwrapped. */
struct command {
    /* made by the backend; argv is NULL if the backend made no command */
    struct bs_wrapped wrapped;
    struct bs_env_list env;
    const char **argv; /* only in a session without a backend: the command of the request */
};

static void free_command(const struct bs_session *session, struct command *command) {
    if (session->backend != NULL)
        unwrap(session, &command->wrapped);
    bs_env_list_clear(&command->env);
    free(command->argv);
    free(command);
}

/* Make the environment that a program gets in the sandbox: the variables of the caller that the
 * contract lists, if the request inherits them, and the additions of the backend. */
static int compose_env(const struct bs_session *session, const struct bs_exec_request *request,
                       struct command *command, struct bs_wrapped *out, struct bs_error *err) {
    int os_error = bs_env_compose(
        &command->env, request->env_mode == BS_ENV_INHERIT,
        bs_context_ref_get(session->context)->confine == BS_CONFINE_CI_ONLY, out->env, out->n_env);
    if (os_error != 0)
        return bs_fail(err, BS_E_EXECUTION, os_error, "out of memory for `%.900s`",
                       request->program);
    out->env = command->env.pairs;
    out->n_env = command->env.n;
    out->clears_env = true;
    return BS_OK;
}

/* Pass on the command unchanged, because there is no sandbox. The program gets the same variables
 * as in a sandbox, because the request was written for a program that gets no secret of the
 * caller. */
static int pass_on(const struct bs_session *session, const struct bs_exec_request *request,
                   struct command *command, struct bs_wrapped *out, struct bs_error *err) {
    command->argv = calloc(request->n_args + 2, sizeof *command->argv);
    if (command->argv == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for `%.900s`", request->program);
    command->argv[0] = request->program;
    for (size_t i = 0; i < request->n_args; i++)
        command->argv[i + 1] = request->args[i];
    *out = (struct bs_wrapped){.argv = command->argv};
    return compose_env(session, request, command, out, err);
}

static int wrap_in_backend(const struct bs_session *session, const struct bs_exec_request *request,
                           struct command *command, struct bs_wrapped *out, struct bs_error *err) {
    const char *cwd = request->current_dir != NULL ? request->current_dir : bs_session_cwd(session);
    int code = wrap(session, request, cwd, &command->wrapped, err);
    if (code != BS_OK)
        return code;
    *out = command->wrapped;
    return compose_env(session, request, command, out, err);
}

int bs_session_wrap(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                    struct bs_error *err) {
    const struct bs_session *session = ctx;
    if (session->interrupted != 0)
        return bs_fail(err, BS_E_EXECUTION, EINTR,
                       "failed to spawn `%.900s`: a signal arrived before the sandbox was ready",
                       request->program);
    struct command *command = calloc(1, sizeof *command);
    if (command == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for `%.900s`", request->program);
    int code = session->backend != NULL ? wrap_in_backend(session, request, command, out, err)
                                        : pass_on(session, request, command, out, err);
    if (code != BS_OK)
        free_command(session, command);
    else
        out->own = command;
    return code;
}

void bs_session_unwrap(void *ctx, struct bs_wrapped *out) { free_command(ctx, out->own); }

static int validate(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    const struct bs_session *session = ctx;
    return bs_context_check_dir(bs_context_ref_get(session->context), request->current_dir, err);
}

struct bs_sandbox bs_session_sandbox(struct bs_session *session) {
    return (struct bs_sandbox){session, validate, bs_session_wrap, bs_session_unwrap};
}

const char *bs_session_cwd(const struct bs_session *session) {
    const struct bs_backend_context *context = bs_context_ref_get(session->context);
    return context->cwd != NULL ? context->cwd : context->root;
}
