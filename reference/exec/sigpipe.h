/* Protects the calling thread from SIGPIPE while it writes to pipes. The disposition belongs to the
 * whole process and stays unchanged. Instead the signal is blocked in this thread, and a SIGPIPE
 * that a write raised is discarded before the mask is restored. */
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
