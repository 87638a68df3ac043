/* A descriptor that becomes readable when a child ends. It is a pidfd, or an eventfd to which a
 * thread writes if the kernel or a filter refuses pidfds. It is opened in two steps, so that a lack
 * of descriptors or threads is an error before the child is started. */
#ifndef BS_EXEC_WATCH_H
#define BS_EXEC_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* Interval for checking whether a child has ended, if no descriptor reports it. */
#define BS_WATCH_POLLED_MS 20

struct bs_watch {
    int fd; /* to poll */
    bool is_pidfd;
    bool has_thread;
    bool polled;      /* no descriptor reports the end: check with waitid at intervals */
    pthread_t thread; /* valid if has_thread */
};

#define BS_WATCH_INIT                                                                              \
    { -1, false, false, false, 0 }

/* Reserve the descriptor of the watch. Returns 0 or an errno. */
int bs_watch_prepare(struct bs_watch *watch);

/* Watch pid, an unreaped child. If there is neither a pidfd nor a thread, `polled` is set and the
 * descriptor never becomes readable. */
void bs_watch_start(struct bs_watch *watch, pid_t pid);

/* Send SIGKILL to the group that the pidfd's process leads or led. This is safe even if the process
 * is already reaped, because a pidfd never refers to another process. Returns false without a
 * pidfd, or if the kernel cannot signal groups by pidfd (before Linux 6.9). */
bool bs_watch_kill_group(const struct bs_watch *watch);

/* True if the pidfd's process is alive or an unreaped zombie, so that its number is not assigned to
 * another process. False without a pidfd. */
bool bs_watch_is_uncollected(const struct bs_watch *watch);

/* Kill the group of a leader that another part of the program has reaped. The number of the group
 * may have been assigned again, so kill(2) could hit another group. The pidfd still refers to the
 * old group. If the kernel cannot signal a group by pidfd, the group is killed only if the pidfd
 * shows that the leader is unreaped after all. */
void bs_watch_kill_lost_group(const struct bs_watch *watch, pid_t pgid);

/* Wait for the end of the pidfd's process, at most `within_ms`, and reap it. */
void bs_watch_collect(const struct bs_watch *watch, int within_ms);

void bs_watch_close(struct bs_watch *watch);

/* Return a pidfd of any process, or -1. */
int bs_pidfd(pid_t pid);

#endif
