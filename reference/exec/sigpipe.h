/* Keeps SIGPIPE away from the calling thread while it writes to pipes, without touching the
 * process's disposition: the signal is blocked in this thread, and one that our own write raised is
 * taken off before the mask comes back. */
#ifndef BS_EXEC_SIGPIPE_H
#define BS_EXEC_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

struct bs_sigpipe {
    bool held;
    bool was_pending;
    sigset_t mask;
};

void bs_sigpipe_hold(struct bs_sigpipe *guard);
void bs_sigpipe_release(struct bs_sigpipe *guard);

#endif
