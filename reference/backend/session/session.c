/* What is decided about a session, and that each call of a backend comes once and in its order. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "backend/internal.h"
#include "backend/session/session.h"
#include "backend/session/timed_call.h"
#include "base/error.h"
#include "base/sys.h"
#include "exec/report.h"
#include "exec/signals.h"

int bs_backend_probe(const struct bs_backend *backend, const struct bs_backend_context *context,
                     int cancel, struct bs_backend_report *report, struct bs_error *err) {
    struct bs_profile *profile = NULL;
    int code = bs_context_check(context, err);
    if (code == BS_OK)
        code = bs_policy_of(context, &profile, err);
    bs_profile_free(profile);
    if (code != BS_OK)
        return code;
    struct bs_kept_context *kept = bs_context_keep(context);
    if (kept == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a probe");
    struct bs_ask ask = {.backend = backend,
                         .context = kept,
                         .report = BS_BACKEND_REPORT_INIT,
                         .err = BS_ERROR_INIT};
    bs_ask_run(&ask, bs_after_ms(bs_now_ns(), BS_BACKEND_OPEN_MS), cancel);
    bs_context_let_go(kept);
    bs_backend_report_clear(report);
    if (ask.code == BS_OK)
        *report = ask.report;
    else
        bs_backend_report_clear(&ask.report);
    if (ask.code != BS_OK && err != NULL)
        *err = ask.err;
    return ask.code;
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
    bs_session_tell(session, "shutdown", code, &own, NULL, NULL);
    if (code != BS_OK && err != NULL)
        *err = own;
    return code;
}

static void free_session(struct bs_session *session) {
    bs_context_let_go(session->kept);
    free(session);
}

/* Anything but a backend that stays: refused, or left away with a warning. */
static int without(struct bs_session *session, enum bs_on_unavailable on_unavailable,
                   const char *why, struct bs_backend_report *report, struct bs_error *err) {
    const char *name = session->backend != NULL ? session->backend->name : "?";
    session->enforcement = BS_CLAIM_UNAVAILABLE;
    if (on_unavailable == BS_REFUSE)
        return bs_fail(err, BS_E_DENIED, 0, "refused by the sandbox: %s: %.1500s", name, why);
    session->backend = NULL;
    if (!bs_report_warn(report, "NOT confined: the backend %s is left away: %s", name, why))
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
    return "nothing holds";
}

static int refuse_partial(const struct bs_backend *backend, const struct bs_backend_report *report,
                          struct bs_error *err) {
    return bs_fail(err, BS_E_DENIED, 0, "refused by the sandbox: %s is partial: %.600s",
                   backend->name, first_reason(report));
}

static int probe(struct bs_session *session, enum bs_on_unavailable on_unavailable, uint64_t until,
                 struct bs_backend_report *report, struct bs_error *err) {
    struct bs_ask ask = {.backend = session->backend,
                         .context = session->kept,
                         .report = BS_BACKEND_REPORT_INIT,
                         .err = BS_ERROR_INIT};
    bs_ask_run(&ask, until, -1);
    bs_session_tell(session, "probe", ask.code, &ask.err, ask.code == BS_OK ? &ask.report : NULL,
                    NULL);
    if (ask.code != BS_OK) {
        bs_backend_report_clear(&ask.report);
        return without(session, on_unavailable, ask.err.message, report, err);
    }
    *report = ask.report;
    session->enforcement = report->overall;
    if (report->overall == BS_CLAIM_UNAVAILABLE)
        return without(session, on_unavailable, first_reason(report), report, err);
    if (report->overall == BS_CLAIM_PARTIAL && on_unavailable == BS_REFUSE)
        return refuse_partial(session->backend, report, err);
    return BS_OK;
}

static int prepare(struct bs_session *session, enum bs_on_unavailable on_unavailable,
                   uint64_t until, struct bs_backend_report *report, struct bs_error *err) {
    struct bs_ask ask = {.backend = session->backend,
                         .context = session->kept,
                         .prepares = true,
                         .report = BS_BACKEND_REPORT_INIT,
                         .err = BS_ERROR_INIT};
    bs_ask_run(&ask, until, -1);
    session->state = ask.state;
    bs_session_tell(session, "prepare", ask.code, &ask.err, NULL, NULL);
    int code = BS_OK;
    if (!bs_report_merge(report, &ask.report))
        code = bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
    bs_backend_report_clear(&ask.report);
    session->enforcement = report->overall;
    bool refused = report->overall != BS_CLAIM_FULLY && on_unavailable == BS_REFUSE;
    if (ask.code == BS_OK && code == BS_OK && !refused)
        return BS_OK;
    const struct bs_backend *backend = session->backend;
    (void)shut_down(session, NULL);
    if (ask.code == BS_OK && code == BS_OK)
        return refuse_partial(backend, report, err);
    if (code != BS_OK)
        return code;
    session->backend = backend; /* for its name */
    return without(session, on_unavailable, ask.err.message, report, err);
}

/* The control of a probe is a run of its own, which would take a signal of the caller for its end.
 * Whatever the backend then came to, the session is there and runs nothing: the signal is the
 * result of what was to be run. */
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
        session->backend = NULL; /* nothing was prepared that is still to be shut down */
    return code == BS_E_DENIED ? BS_OK : code;
}

static int run_nothing(const struct bs_session *session, struct bs_exec_result *result,
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

static int keep_resolved(struct bs_session *session, const struct bs_backend_context *context,
                         struct bs_error *err) {
    struct bs_resolved_context resolved;
    int code = bs_context_resolve(context, &resolved, err);
    if (code != BS_OK)
        return code;
    session->kept = bs_context_keep(&resolved.context);
    bs_context_clear(&resolved);
    return session->kept != NULL
               ? BS_OK
               : bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
}

int bs_session_open(const struct bs_backend *backend, const struct bs_backend_context *context,
                    enum bs_on_unavailable on_unavailable, const struct bs_session_log *log,
                    struct bs_session **opened, struct bs_backend_report *report,
                    struct bs_error *err) {
    struct bs_profile *profile = NULL;
    *opened = NULL;
    bs_backend_report_clear(report);
    struct bs_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
    session->backend = backend;
    session->log = log != NULL ? *log : (struct bs_session_log){NULL, NULL};
    int code = keep_resolved(session, context, err);
    if (code == BS_OK)
        code = bs_policy_of(context, &profile, err);
    bs_profile_free(profile);
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
    int code = bs_seat_wrap(session, request, &wrapped, err);
    if (code != BS_OK)
        return code;
    code = bs_seat_run(&wrapped, request, result, err);
    bs_session_tell(session, "run", code, err, NULL, NULL);
    bs_seat_unwrap(session, &wrapped);
    return code;
}

/* Where it starts. 0 or BS_E_INVALID. */
static int place_request(const struct bs_session *session, const struct bs_exec_request *request,
                         struct bs_exec_request *placed, struct bs_error *err) {
    const struct bs_backend_context *context = bs_kept_context(session->kept);
    *placed = *request;
    if (request->program == NULL)
        return bs_fail(err, BS_E_INVALID, 0, "the request names no program");
    if (request->sandbox != NULL)
        return bs_fail(err, BS_E_INVALID, 0, "the request has a sandbox of its own; leave it NULL");
    if (placed->current_dir == NULL)
        placed->current_dir = bs_session_cwd(session);
    return bs_context_check_dir(context, request->current_dir, err);
}

int bs_session_run(struct bs_session *session, const struct bs_exec_request *request,
                   struct bs_exec_result *result, struct bs_error *err) {
    struct bs_exec_request placed;
    struct bs_error own = BS_ERROR_INIT;
    *result = (struct bs_exec_result)BS_EXEC_RESULT_INIT;
    int code = place_request(session, request, &placed, &own);
    if (code == BS_OK && session->interrupted != 0) {
        code = run_nothing(session, result, &own);
    } else if (code == BS_OK && session->backend != NULL) {
        code = run_wrapped(session, &placed, result, &own);
    } else if (code == BS_OK) {
        code = bs_exec_run(&placed, result, &own);
        bs_session_tell(session, "run", code, &own, NULL, NULL);
    }
    if (code != BS_OK && err != NULL)
        *err = own;
    return code;
}

int bs_session_explain(struct bs_session *session, const struct bs_exec_request *request,
                       struct bs_error *err) {
    struct bs_exec_request placed;
    struct bs_wrapped wrapped = {.argv = NULL};
    struct bs_error own = BS_ERROR_INIT;
    int code = place_request(session, request, &placed, &own);
    if (code == BS_OK && session->backend != NULL) {
        code = bs_seat_wrap(session, &placed, &wrapped, &own);
        if (code == BS_OK)
            bs_seat_unwrap(session, &wrapped);
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
