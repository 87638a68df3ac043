/* Probe and prepare on a thread of their own: whoever waits gives up in time. */
#ifndef BS_BACKEND_SESSION_TIMED_CALL_H
#define BS_BACKEND_SESSION_TIMED_CALL_H

#include <boxspec/backend.h>

struct bs_ask {
    const struct bs_backend *backend;
    struct bs_kept_context *context;
    bool prepares; /* else it probes */
    void *state;   /* what prepare made, also when it failed */
    struct bs_backend_report report;
    struct bs_error err;
    int code;
};

/* Returns when the call does, or at `until` (CLOCK_MONOTONIC ns), or when `cancel` becomes
 * readable: the call is then told, and waited for. One that does not hear is a thread that is left
 * behind: it shares the context, so the caller may let go of that, and *ask is empty. ask->code is
 * what came of it. */
void bs_ask_run(struct bs_ask *ask, unsigned long long until, int cancel);

#endif
