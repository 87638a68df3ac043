/* Starts the child: everything that can fail before it runs fails here, with nothing left behind.
 */
#ifndef BS_EXEC_SPAWN_H
#define BS_EXEC_SPAWN_H

#include <sys/types.h>

#include <boxspec/exec.h>

#include "exec/feed.h"
#include "exec/watch.h"

struct bs_child {
    pid_t pid;
    struct bs_watch watch;
    int out; /* our ends, non-blocking and close-on-exec; -1 where there is none */
    int err;
    int report;          /* of a launcher */
    struct bs_feed feed; /* what of the payload the pipe did not take at once */
};

#define BS_CHILD_INIT                                                                              \
    { -1, BS_WATCH_INIT, -1, -1, -1, BS_FEED_INIT }

/* On 0 the child runs. Else a negative code, and *child is as BS_CHILD_INIT. `wrapped` is what a
 * sandbox made of the command, NULL without one. */
int bs_spawn(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
             struct bs_child *child, struct bs_error *err);

#endif
