/* Calls a backend's probe or prepare on a separate thread, so that the caller can stop waiting. */
#ifndef BS_BACKEND_SESSION_TIMED_CALL_H
#define BS_BACKEND_SESSION_TIMED_CALL_H

#include <boxspec/backend.h>

#include "backend/session/context_ref.h"

struct bs_timed_call {
    const struct bs_backend *backend;
    struct bs_context_ref *context;
    bool prepares; /* true for prepare, false for probe */
    void *state;   /* of prepare: set even if prepare failed, so that shutdown gets it */
    struct bs_backend_report report;
    struct bs_error err;
    int code; /* the code that the call returned */
};

/* Run the call. At the time `until` (of bs_now_ns), or when the descriptor `cancel` (or -1) becomes
 * readable, the call is cancelled and gets one more second to return. A call that ignores the
 * cancellation is detached: its thread keeps a reference to the context. Then *call has no state
 * and no report, and its code is BS_E_EXECUTION. The caller clears the report. */
void bs_timed_call_run(struct bs_timed_call *call, uint64_t until, int cancel);

#endif
