#define _GNU_SOURCE
#include "exec/sigpipe.h"

#include <pthread.h>
#include <time.h>

static bool is_pending(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void bs_sigpipe_hold(struct bs_sigpipe *guard) {
    sigset_t pipe_only;
    (void)sigemptyset(&pipe_only);
    (void)sigaddset(&pipe_only, SIGPIPE);
    guard->was_pending = is_pending();
    guard->held = pthread_sigmask(SIG_BLOCK, &pipe_only, &guard->mask) == 0;
}

void bs_sigpipe_release(struct bs_sigpipe *guard) {
    if (!guard->held)
        return;
    guard->held = false;
    if (!guard->was_pending && is_pending()) {
        sigset_t pipe_only;
        (void)sigemptyset(&pipe_only);
        (void)sigaddset(&pipe_only, SIGPIPE);
        static const struct timespec at_once = {0, 0};
        (void)sigtimedwait(&pipe_only, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
}
