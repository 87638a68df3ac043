/* A descriptor that becomes readable when a child ended: a pidfd, or an eventfd that a thread
 * writes to where the kernel or a filter has no pidfd. Opened in two steps, because what can fail
 * for want of descriptors or threads must fail before there is a child. */
#ifndef BS_EXEC_WATCH_H
#define BS_EXEC_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

struct bs_watch {
    int fd; /* to poll */
    bool is_pidfd;
    bool has_thread;
    bool polled;      /* nothing tells: ask with waitid */
    pthread_t thread; /* only with has_thread */
};

#define BS_WATCH_INIT                                                                              \
    { -1, false, false, false, 0 }

/* Takes the descriptor that the watch will use. 0 or an errno. */
int bs_watch_prepare(struct bs_watch *watch);

/* Watches pid, an unreaped child. Where neither a pidfd nor a thread can be had, `polled` is set
 * and the descriptor stays silent. */
void bs_watch_start(struct bs_watch *watch, pid_t pid);

/* SIGKILL to the group that the pidfd's process led, also after somebody else collected it: a pidfd
 * never means a stranger. False where pidfds or group signals by pidfd (Linux 6.9) are missing. */
bool bs_watch_kill_group(const struct bs_watch *watch);

/* The pidfd's process is alive, or a zombie that nobody has collected: its number is still its own.
 * False where there is no pidfd to prove it. */
bool bs_watch_is_uncollected(const struct bs_watch *watch);

/* Waits for the end of the pidfd's process, `within_ms` at most, and collects it. */
void bs_watch_collect(const struct bs_watch *watch, int within_ms);

void bs_watch_close(struct bs_watch *watch);

/* A pidfd of any process, or -1. */
int bs_pidfd(pid_t pid);

#endif
