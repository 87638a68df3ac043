/* A session for a directory that is made when everything else is decided. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

struct bs_late_session {
    const struct bs_backend *backend;
    struct bs_backend_context context;
    enum bs_on_unavailable on_unavailable;
    struct bs_session *session;
    struct bs_sandbox inner;
    struct bs_sandbox sandbox;
    struct bs_backend_report report;
};

static int open_for(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    struct bs_late_session *late = ctx;
    if (late->session == NULL) {
        struct bs_backend_context context = late->context;
        context.root = request->current_dir;
        context.cwd = NULL;
        context.readable = request->readable;
        context.n_readable = request->n_readable;
        int code = bs_session_open(late->backend, &context, late->on_unavailable, NULL,
                                   &late->session, &late->report, err);
        if (code != BS_OK)
            return code;
        late->inner = bs_session_sandbox(late->session);
    }
    return late->inner.validate(late->inner.ctx, request, err);
}

static int wrap(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                struct bs_error *err) {
    const struct bs_late_session *late = ctx;
    return late->inner.wrap(late->inner.ctx, request, out, err);
}

static void unwrap(void *ctx, struct bs_wrapped *out) {
    const struct bs_late_session *late = ctx;
    late->inner.unwrap(late->inner.ctx, out);
}

int bs_late_session_make(const struct bs_backend *backend, const struct bs_backend_context *context,
                         enum bs_on_unavailable on_unavailable, struct bs_late_session **late,
                         struct bs_error *err) {
    struct bs_late_session *made = calloc(1, sizeof *made);
    *late = made;
    if (made == NULL)
        return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a session");
    made->backend = backend;
    made->context = *context;
    made->on_unavailable = on_unavailable;
    made->sandbox = (struct bs_sandbox){made, open_for, wrap, unwrap};
    made->report = (struct bs_backend_report)BS_BACKEND_REPORT_INIT;
    return BS_OK;
}

const struct bs_sandbox *bs_late_session_sandbox(const struct bs_late_session *late) {
    return &late->sandbox;
}

struct bs_session *bs_late_session_opened(const struct bs_late_session *late) {
    return late->session;
}

const struct bs_backend_report *bs_late_session_report(const struct bs_late_session *late) {
    return &late->report;
}

int bs_late_session_close(struct bs_late_session *late, struct bs_error *err) {
    if (late == NULL)
        return BS_OK;
    int code = bs_session_close(late->session, err);
    bs_backend_report_clear(&late->report);
    free(late);
    return code;
}
