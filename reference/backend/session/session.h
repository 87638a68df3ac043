/* A session from within: session.c opens, runs and closes it, wrap.c wraps programs for it. */
#ifndef BS_BACKEND_SESSION_SESSION_H
#define BS_BACKEND_SESSION_SESSION_H

#include <boxspec/backend.h>

#include "backend/internal.h"

struct bs_session {
    const struct bs_backend *backend; /* NULL: left away */
    struct bs_kept_context *kept;     /* root and cwd are real paths */
    struct bs_session_log log;
    void *state;
    enum bs_claim enforcement;
    int interrupted; /* SIGINT or SIGTERM came while it was opened: it runs nothing */
};

void bs_session_tell(const struct bs_session *session, const char *call, int code,
                     const struct bs_error *err, const struct bs_backend_report *report,
                     const struct bs_wrapped *wrapped);

/* As the seam of exec.h has them; ctx is the session. Any thread. */
int bs_seat_wrap(void *ctx, const struct bs_exec_request *request, struct bs_wrapped *out,
                 struct bs_error *err);
void bs_seat_unwrap(void *ctx, struct bs_wrapped *out);

#endif
