/* A process that ends a group when the caller dies of anything, SIGKILL included. */
#ifndef BS_PROCESS_WATCHER_H
#define BS_PROCESS_WATCHER_H

#include <sys/types.h>

struct bs_watcher {
    pid_t pid;
    int fd; /* the write end of its pipe, above 2 and close-on-exec */
};

#define BS_WATCHER_INIT                                                                            \
    { -1, -1 }

/* Before the child is there. Who is then told on `fd` as a pid_t is the leader of the group. The
 * child tells it itself, before it becomes its program: a caller that is killed in between leave it
 * to nobody. 0 or an errno: nobody would watch. */
int bs_watcher_start(struct bs_watcher *watcher);

/* The group has been reaped: the watcher leaves without a signal, and is collected. */
void bs_watcher_release(struct bs_watcher *watcher);

#endif
