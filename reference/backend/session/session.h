/* The inner structure of a session. session.c opens, runs and closes it; wrap.c wraps its
 * programs. */
#ifndef BS_BACKEND_SESSION_SESSION_H
#define BS_BACKEND_SESSION_SESSION_H

#include <boxspec/backend.h>

#include "backend/session/context_ref.h"

struct bs_session {
    const struct bs_backend *backend; /* NULL: programs run without a sandbox */
    struct bs_context_ref *context;   /* its root and cwd are real paths */
    struct bs_session_log log;
    void *state; /* made by the backend's prepare */
    enum bs_claim enforcement;
    /* SIGINT or SIGTERM if one of them arrived while the session was opened; else 0. If it is set,
     * no program is run. */
    int interrupted;
};

/* Report a call to the session's log, if it has one. */
void bs_session_log_call(const struct bs_session *session, const char *call, int code,
                         const struct bs_error *err, const struct bs_backend_report *report,
                         const struct bs_wrapped *wrapped);

/* `wrap` and `unwrap` of struct bs_sandbox (boxspec/sandbox.h). `ctx` is the session. Any thread
 * may call them. */
int bs_session_wrap(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                    struct bs_error *err);
void bs_session_unwrap(void *ctx, struct bs_wrapped *out);

#endif
