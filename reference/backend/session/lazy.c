/* A session that opens on first use. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <errno.h>
#include <stdlib.h>

#include "backend/session/session.h"
#include "base/error.h"

struct bs_lazy_session {
    const struct bs_backend *backend;
    struct bs_backend_context context;
    enum bs_on_unavailable on_unavailable;
    const struct bs_session_log *log;
    struct bs_session *session; /* NULL until the session is open */
    struct bs_sandbox inner;    /* the session as a sandbox */
    struct bs_sandbox sandbox;
    struct bs_backend_report report;
};

static int open_in(struct bs_lazy_session *lazy, const struct bs_backend_context *context,
                   struct bs_error *err) {
    int code = bs_session_open(lazy->backend, context, lazy->on_unavailable, lazy->log,
                               &lazy->session, &lazy->report, err);
    if (code == BS_OK)
        lazy->inner = bs_session_sandbox(lazy->session);
    return code;
}

static int validate(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    struct bs_lazy_session *lazy = ctx;
    if (lazy->session == NULL) {
        struct bs_backend_context context = lazy->context;
        context.root = request->current_dir;
        context.cwd = NULL;
        context.readable = request->readable;
        context.n_readable = request->n_readable;
        int code = open_in(lazy, &context, err);
        if (code != BS_OK)
            return code;
    }
    return lazy->inner.validate(lazy->inner.ctx, request, err);
}

static int wrap(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                struct bs_error *err) {
    const struct bs_lazy_session *lazy = ctx;
    return lazy->inner.wrap(lazy->inner.ctx, request, out, err);
}

static void unwrap(void *ctx, struct bs_wrapped *out) {
    const struct bs_lazy_session *lazy = ctx;
    lazy->inner.unwrap(lazy->inner.ctx, out);
}

int bs_lazy_session_open(const struct bs_backend *backend, const struct bs_backend_context *context,
                         enum bs_on_unavailable on_unavailable, const struct bs_session_log *log,
                         struct bs_lazy_session **lazy, struct bs_error *err) {
    struct bs_lazy_session *made = calloc(1, sizeof *made);
    *lazy = made;
    if (made == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
    made->backend = backend;
    made->context = *context;
    made->on_unavailable = on_unavailable;
    made->log = log;
    made->sandbox = (struct bs_sandbox){made, validate, wrap, unwrap};
    made->report = (struct bs_backend_report)BS_BACKEND_REPORT_INIT;
    return context->root != NULL ? open_in(made, context, err) : BS_OK;
}

const struct bs_sandbox *bs_lazy_session_sandbox(const struct bs_lazy_session *lazy) {
    return lazy != NULL ? &lazy->sandbox : NULL;
}

struct bs_session *bs_lazy_session_opened(const struct bs_lazy_session *lazy) {
    return lazy != NULL ? lazy->session : NULL;
}

const struct bs_backend_report *bs_lazy_session_report(const struct bs_lazy_session *lazy) {
    static const struct bs_backend_report empty = BS_BACKEND_REPORT_INIT;
    return lazy != NULL ? &lazy->report : &empty;
}

int bs_lazy_session_close(struct bs_lazy_session *lazy, struct bs_error *err) {
    if (lazy == NULL)
        return BS_OK;
    int code = bs_session_close(lazy->session, err);
    bs_backend_report_clear(&lazy->report);
    free(lazy);
    return code;
}
