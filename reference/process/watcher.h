/* A watcher process kills a group when the caller dies for any reason, SIGKILL included. */
#ifndef BS_PROCESS_WATCHER_H
#define BS_PROCESS_WATCHER_H

#include <sys/types.h>

struct bs_watcher {
    pid_t pid;
    int fd; /* the write end of its pipe, above 2 and close-on-exec */
};

#define BS_WATCHER_INIT                                                                            \
    { -1, -1 }

/* Start the watcher, before the child. Each pid_t that is then written to `fd` replaces the group
 * to kill; 0 means none. The child writes its own before it executes its program, so no child is
 * left over if the caller is killed in between. Returns 0, or an errno with no watcher running. */
int bs_watcher_start(struct bs_watcher *watcher);

/* The group has ended: end the watcher without killing, and reap it. */
void bs_watcher_release(struct bs_watcher *watcher);

#endif
