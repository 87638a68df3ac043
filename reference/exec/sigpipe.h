/* Keep SIGPIPE from the calling thread while it writes to pipes, without a change to the process's
 * disposition: block it in this thread, and discard one that a write raised before the mask is
 * restored. */
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
