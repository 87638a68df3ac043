#define _GNU_SOURCE
#include "exec/watch.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "exec/group.h"

/* Defined since Linux 6.9; the <linux/pidfd.h> of Debian 12 lacks it. */
#define BS_PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)

struct waiter {
    pid_t pid;
    int fd;
};

int bs_pidfd(pid_t pid) {
    /* Every pidfd is close-on-exec. */
    return bs_above_stdio((int)syscall(SYS_pidfd_open, pid, 0));
}

int bs_watch_prepare(struct bs_watch *watch) {
    *watch = (struct bs_watch)BS_WATCH_INIT;
    watch->fd = bs_open_notice();
    return watch->fd >= 0 ? 0 : errno;
}

/* Wait for the end of the child without reaping it. */
static void *wait_for_end(void *arg) {
    struct waiter *waiter = arg;
    siginfo_t info;
    (void)BS_RETRY(waitid(P_PID, (id_t)waiter->pid, &info, WEXITED | WNOWAIT));
    static const uint64_t one = 1;
    (void)!write(waiter->fd, &one, sizeof one);
    free(waiter);
    return NULL;
}

/* Start a thread that waits for the child. The thread needs no further descriptor, so this works
 * even if all descriptors are in use. All signals are blocked in the thread, because handlers must
 * run on the threads of the calling program. */
static bool start_thread(struct bs_watch *watch, pid_t pid) {
    struct waiter *waiter = malloc(sizeof *waiter);
    if (waiter == NULL)
        return false;
    *waiter = (struct waiter){pid, watch->fd};
    sigset_t all;
    sigset_t mine;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &mine);
    watch->has_thread = pthread_create(&watch->thread, NULL, wait_for_end, waiter) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &mine, NULL);
    if (!watch->has_thread)
        free(waiter);
    return watch->has_thread;
}

void bs_watch_start(struct bs_watch *watch, pid_t pid) {
    int pidfd = bs_pidfd(pid);
    if (pidfd < 0) {
        watch->polled = !start_thread(watch, pid);
        return;
    }
    bs_close(&watch->fd);
    watch->fd = pidfd;
    watch->is_pidfd = true;
}

bool bs_watch_kill_group(const struct bs_watch *watch) {
    return watch->is_pidfd && syscall(SYS_pidfd_send_signal, watch->fd, SIGKILL, NULL,
                                      BS_PIDFD_SIGNAL_PROCESS_GROUP) == 0;
}

bool bs_watch_is_uncollected(const struct bs_watch *watch) {
    return watch->is_pidfd && syscall(SYS_pidfd_send_signal, watch->fd, 0, NULL, 0) == 0;
}

void bs_watch_kill_lost_group(const struct bs_watch *watch, pid_t pgid) {
    if (!bs_watch_kill_group(watch) && bs_watch_is_uncollected(watch))
        (void)bs_group_signal(pgid, SIGKILL);
}

void bs_watch_collect(const struct bs_watch *watch, int within_ms) {
    struct pollfd entry = {.fd = watch->fd, .events = POLLIN};
    siginfo_t info;
    if (watch->is_pidfd && BS_RETRY(poll(&entry, 1, within_ms)) == 1)
        (void)BS_RETRY(waitid(P_PIDFD, (id_t)watch->fd, &info, WEXITED | WNOHANG));
}

void bs_watch_close(struct bs_watch *watch) {
    if (watch->has_thread) {
        watch->has_thread = false;
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        if (pthread_timedjoin_np(watch->thread, NULL, &until) != 0) {
            /* The child cannot be killed, because it is in an uninterruptible wait, so the thread
             * keeps waiting. The descriptor stays open, because the thread still writes to it and
             * its number must not be assigned to another file. */
            (void)pthread_detach(watch->thread);
            watch->fd = -1;
        }
    }
    bs_close(&watch->fd);
    watch->is_pidfd = false;
}
