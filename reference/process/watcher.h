/* A process that ends a group when the caller dies of anything, SIGKILL included. */
#ifndef BS_PROCESS_WATCHER_H
#define BS_PROCESS_WATCHER_H

#include <sys/types.h>

struct bs_watcher {
    pid_t pid;
    int fd; /* the only write end of its pipe, above 2 and close-on-exec */
};

#define BS_WATCHER_INIT                                                                            \
    { -1, -1 }

/* Before the child is there: a fork of a caller that has one would take longer. 0 or an errno. */
int bs_watcher_start(struct bs_watcher *watcher);

/* From now on the end of the caller is the end of this group. 0 or an errno: nobody watches. */
int bs_watcher_guard(struct bs_watcher *watcher, pid_t pgid);

/* The group has been reaped: the watcher leaves without a signal, and is collected. */
void bs_watcher_release(struct bs_watcher *watcher);

#endif
