/* A backend's probe or prepare on a thread of its own, so that the caller can stop waiting. */
#ifndef BS_BACKEND_SESSION_TIMED_CALL_H
#define BS_BACKEND_SESSION_TIMED_CALL_H

#include <boxspec/backend.h>

#include "backend/session/context_ref.h"

struct bs_timed_call {
    const struct bs_backend *backend;
    struct bs_context_ref *context;
    bool prepares; /* otherwise it probes */
    void *state;   /* made by prepare, perhaps also by one that failed */
    struct bs_backend_report report;
    struct bs_error err;
    int code; /* the result */
};

/* Runs the call. At `until` (of bs_now_ns), or if `cancel` (a descriptor or -1) becomes readable,
 * the call is cancelled and gets another second to return. A call that ignores cancellation is
 * detached: it keeps its own reference to the context, *call has no state and no report, and its
 * code is BS_E_EXECUTION. The caller clears the report. */
void bs_timed_call_run(struct bs_timed_call *call, uint64_t until, int cancel);

#endif
