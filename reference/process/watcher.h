/* A watcher process, which kills a group if the caller dies for any reason, even by SIGKILL. */
#ifndef BS_PROCESS_WATCHER_H
#define BS_PROCESS_WATCHER_H

#include <sys/types.h>

struct bs_watcher {
    pid_t pid;
    int fd; /* write end of a pipe to the watcher, above 2 and close-on-exec */
};

#define BS_WATCHER_INIT                                                                            \
    { -1, -1 }

/* Start the watcher, before the child exists. Each pid_t that is written to `fd` afterwards
 * replaces the group to kill; 0 means no group. The child writes its own pid before it executes its
 * program, so that it is killed even if the caller dies at that moment. Returns 0, or an errno with
 * no watcher running. */
int bs_watcher_start(struct bs_watcher *watcher);

/* Call after the end of the group: the watcher ends without killing the group, and is reaped. */
void bs_watcher_release(struct bs_watcher *watcher);

#endif
