/* Opens, runs and closes a session. The functions of its backend are called in the order of
 * boxspec/backend.h. Probe, prepare and shutdown are called at most once. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "backend/session/context.h"
#include "backend/session/context_ref.h"
#include "backend/session/report.h"
#include "backend/session/session.h"
#include "backend/session/timed_call.h"
#include "backend/session/wrap.h"
#include "base/error.h"
#include "base/sys.h"
#include "exec/report.h"
#include "exec/signals.h"

int bs_backend_probe(const struct bs_backend *backend, const struct bs_backend_context *context,
                     int cancel, struct bs_backend_report *report, struct bs_error *err) {
    struct bs_context_ref *copy = NULL;
    int code = bs_context_check(context, err);
    if (code == BS_OK)
        code = bs_context_ref_new(context, &copy, err);
    if (code != BS_OK)
        return code;
    struct bs_timed_call call = {.backend = backend,
                                 .context = copy,
                                 .report = BS_BACKEND_REPORT_INIT,
                                 .err = BS_ERROR_INIT};
    bs_timed_call_run(&call, bs_after_ms(bs_now_ns(), BS_BACKEND_OPEN_MS), cancel);
    bs_context_ref_release(copy);
    bs_backend_report_clear(report);
    if (call.code == BS_OK)
        *report = call.report;
    else
        bs_backend_report_clear(&call.report);
    if (call.code != BS_OK && err != NULL)
        *err = call.err;
    return call.code;
}

static int shut_down(struct bs_session *session, struct bs_error *err) {
    const struct bs_backend *backend = session->backend;
    struct bs_error own = BS_ERROR_INIT;
    if (backend == NULL)
        return BS_OK;
    session->backend = NULL;
    int code =
        backend->shutdown != NULL ? backend->shutdown(backend->ctx, session->state, &own) : BS_OK;
    session->state = NULL;
    bs_session_log_call(session, "shutdown", code, &own, NULL, NULL);
    if (code != BS_OK && err != NULL)
        *err = own;
    return code;
}

static void free_session(struct bs_session *session) {
    bs_context_ref_release(session->context);
    free(session);
}

/* Refuse the session, or open it without a sandbox, because the backend cannot be used. */
static int open_without_backend(struct bs_session *session, enum bs_on_unavailable on_unavailable,
                                const char *why, struct bs_backend_report *report,
                                struct bs_error *err) {
    const char *name = session->backend != NULL ? session->backend->name : "?";
    session->enforcement = BS_CLAIM_UNAVAILABLE;
    if (on_unavailable == BS_REFUSE)
        return bs_fail(err, BS_E_DENIED, 0, "refused by the sandbox: %s: %.1500s", name, why);
    session->backend = NULL;
    if (!bs_report_warn(report, "running WITHOUT a sandbox: backend %s is unavailable: %s", name,
                        why))
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
    return BS_OK;
}

static const char *first_reason(const struct bs_backend_report *report) {
    for (int worst = BS_CLAIM_UNAVAILABLE; worst >= BS_CLAIM_PARTIAL; worst--) {
        for (int i = 0; i < BS_ASPECTS; i++) {
            if ((int)report->aspects[i].claim == worst && report->aspects[i].n_reasons > 0)
                return report->aspects[i].reasons[0];
        }
    }
    return "no aspect is enforced";
}

static int refuse_partial(const struct bs_backend *backend, const struct bs_backend_report *report,
                          struct bs_error *err) {
    return bs_fail(err, BS_E_DENIED, 0, "refused by the sandbox: %s is partial: %.600s",
                   backend->name, first_reason(report));
}

static int probe(struct bs_session *session, enum bs_on_unavailable on_unavailable, uint64_t until,
                 struct bs_backend_report *report, struct bs_error *err) {
    struct bs_timed_call call = {.backend = session->backend,
                                 .context = session->context,
                                 .report = BS_BACKEND_REPORT_INIT,
                                 .err = BS_ERROR_INIT};
    bs_timed_call_run(&call, until, -1);
    bs_session_log_call(session, "probe", call.code, &call.err,
                        call.code == BS_OK ? &call.report : NULL, NULL);
    if (call.code != BS_OK) {
        bs_backend_report_clear(&call.report);
        return open_without_backend(session, on_unavailable, call.err.message, report, err);
    }
    *report = call.report;
    session->enforcement = report->overall;
    if (report->overall == BS_CLAIM_UNAVAILABLE)
        return open_without_backend(session, on_unavailable, first_reason(report), report, err);
    if (report->overall == BS_CLAIM_PARTIAL && on_unavailable == BS_REFUSE)
        return refuse_partial(session->backend, report, err);
    return BS_OK;
}

static int prepare(struct bs_session *session, enum bs_on_unavailable on_unavailable,
                   uint64_t until, struct bs_backend_report *report, struct bs_error *err) {
    struct bs_timed_call call = {.backend = session->backend,
                                 .context = session->context,
                                 .prepares = true,
                                 .report = BS_BACKEND_REPORT_INIT,
                                 .err = BS_ERROR_INIT};
    bs_timed_call_run(&call, until, -1);
    session->state = call.state;
    bs_session_log_call(session, "prepare", call.code, &call.err, NULL, NULL);
    int code = BS_OK;
    if (!bs_report_merge(report, &call.report))
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
    bs_backend_report_clear(&call.report);
    session->enforcement = report->overall;
    bool refused = report->overall != BS_CLAIM_FULLY && on_unavailable == BS_REFUSE;
    if (call.code == BS_OK && code == BS_OK && !refused)
        return BS_OK;
    const struct bs_backend *backend = session->backend;
    (void)shut_down(session, NULL);
    if (call.code == BS_OK && code == BS_OK)
        return refuse_partial(backend, report, err);
    if (code != BS_OK)
        return code;
    if (!bs_report_withdraw(report, call.err.message))
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
    session->backend = backend; /* needed for the message of open_without_backend */
    return open_without_backend(session, on_unavailable, call.err.message, report, err);
}

/* Open the session while SIGINT and SIGTERM are caught. The probe runs a program, and such a signal
 * ends this program like any run, so the result of the probe is then worthless. The session opens
 * nevertheless, but it starts no program: the signal is the result of each run. */
static int open_noting_signals(struct bs_session *session, enum bs_on_unavailable on_unavailable,
                               struct bs_backend_report *report, struct bs_error *err) {
    uint64_t until = bs_after_ms(bs_now_ns(), BS_BACKEND_OPEN_MS);
    unsigned sigints = 0;
    unsigned sigterms = 0;
    struct bs_signal_slot *slot = bs_signals_acquire(err);
    if (slot == NULL)
        return BS_E_EXECUTION;
    int code = probe(session, on_unavailable, until, report, err);
    bool prepares = code == BS_OK && session->backend != NULL && bs_signal_first(slot) == 0;
    if (prepares)
        code = prepare(session, on_unavailable, until, report, err);
    session->interrupted = bs_signal_first(slot);
    bs_signals_release(slot, &sigints, &sigterms);
    if (session->interrupted == 0 && sigints + sigterms > 0)
        session->interrupted = sigterms > 0 ? SIGTERM : SIGINT;
    if (session->interrupted == 0)
        return code;
    if (!prepares || code != BS_OK)
        session->backend = NULL; /* there is no state that a shutdown would have to remove */
    return code == BS_E_DENIED ? BS_OK : code;
}

static int signal_result(const struct bs_session *session, struct bs_exec_result *result,
                         struct bs_error *err) {
    struct bs_buf text = BS_BUF_INIT;
    if (!bs_annotate_signal(&text, session->interrupted)) {
        bs_buf_clear(&text);
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
    }
    result->termination = BS_ENDED_PARENT_SIGNAL;
    result->signal = session->interrupted;
    result->has_exit_code = true;
    result->exit_code = 128 + session->interrupted;
    result->err = bs_buf_take(&text);
    return BS_OK;
}

static int copy_context(struct bs_session *session, const struct bs_backend_context *context,
                        struct bs_error *err) {
    struct bs_resolved_context resolved;
    int code = bs_context_resolve(context, &resolved, err);
    if (code != BS_OK)
        return code;
    code = bs_context_ref_new(&resolved.context, &session->context, err);
    bs_context_clear(&resolved);
    return code;
}

int bs_session_open(const struct bs_backend *backend, const struct bs_backend_context *context,
                    enum bs_on_unavailable on_unavailable, const struct bs_session_log *log,
                    struct bs_session **opened, struct bs_backend_report *report,
                    struct bs_error *err) {
    *opened = NULL;
    bs_backend_report_clear(report);
    struct bs_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
    session->backend = backend;
    session->log = log != NULL ? *log : (struct bs_session_log){NULL, NULL};
    int code = copy_context(session, context, err);
    if (code == BS_OK)
        code = open_noting_signals(session, on_unavailable, report, err);
    if (code != BS_OK) {
        free_session(session);
        return code;
    }
    *opened = session;
    return BS_OK;
}

enum bs_claim bs_session_enforcement(const struct bs_session *session) {
    return session->enforcement;
}

static int run_wrapped(struct bs_session *session, const struct bs_exec_request *request,
                       struct bs_exec_result *result, struct bs_error *err) {
    struct bs_wrapped wrapped = {.argv = NULL};
    int code = bs_session_wrap(session, request, &wrapped, err);
    if (code != BS_OK)
        return code;
    code = bs_wrapped_run(&wrapped, request, result, err);
    bs_session_log_call(session, "run", code, err, NULL, NULL);
    bs_session_unwrap(session, &wrapped);
    return code;
}

/* Set the directory that the program starts in. Returns 0 or BS_E_INVALID. */
static int set_directory(const struct bs_session *session, const struct bs_exec_request *request,
                         struct bs_exec_request *ready, struct bs_error *err) {
    const struct bs_backend_context *context = bs_context_ref_get(session->context);
    *ready = *request;
    if (request->program == NULL)
        return bs_fail(err, BS_E_INVALID, 0, "the request names no program");
    if (request->sandbox != NULL)
        return bs_fail(err, BS_E_INVALID, 0, "the request has a sandbox of its own; leave it NULL");
    if (ready->current_dir == NULL)
        ready->current_dir = bs_session_cwd(session);
    return bs_context_check_dir(context, request->current_dir, err);
}

int bs_session_run(struct bs_session *session, const struct bs_exec_request *request,
                   struct bs_exec_result *result, struct bs_error *err) {
    struct bs_exec_request ready;
    struct bs_error own = BS_ERROR_INIT;
    *result = (struct bs_exec_result)BS_EXEC_RESULT_INIT;
    int code = set_directory(session, request, &ready, &own);
    if (code == BS_OK && session->interrupted != 0) {
        code = signal_result(session, result, &own);
    } else if (code == BS_OK) {
        code = run_wrapped(session, &ready, result, &own);
    }
    if (code != BS_OK && err != NULL)
        *err = own;
    return code;
}

int bs_session_explain(struct bs_session *session, const struct bs_exec_request *request,
                       struct bs_error *err) {
    struct bs_exec_request ready;
    struct bs_wrapped wrapped = {.argv = NULL};
    struct bs_error own = BS_ERROR_INIT;
    int code = set_directory(session, request, &ready, &own);
    if (code == BS_OK && session->backend != NULL) {
        code = bs_session_wrap(session, &ready, &wrapped, &own);
        if (code == BS_OK)
            bs_session_unwrap(session, &wrapped);
    }
    if (code != BS_OK && err != NULL)
        *err = own;
    return code;
}

int bs_session_scan(struct bs_session *session, struct bs_backend_report *report,
                    struct bs_error *err) {
    const struct bs_backend *backend = session->backend;
    if (backend == NULL || backend->scan == NULL)
        return BS_OK;
    return backend->scan(backend->ctx, session->state, report, err);
}

int bs_session_close(struct bs_session *session, struct bs_error *err) {
    if (session == NULL)
        return BS_OK;
    int code = shut_down(session, err);
    free_session(session);
    return code;
}
