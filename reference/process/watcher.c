#define _GNU_SOURCE
#include "process/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/sys.h"
#include "exec/group.h"
#include "exec/sigpipe.h"
#include "exec/watch.h"

/* Kill the group repeatedly until it is empty, because a member may be forking. The leader is an
 * orphan here, so its new parent may reap it at any time. The pidfd refers to the group even after
 * that. */
static void end_group(pid_t pgid, int pidfd) {
    const struct bs_watch watch = {.fd = pidfd, .is_pidfd = pidfd >= 0};
    uint64_t until = bs_after_ms(bs_now_ns(), 500);
    if (!bs_watch_kill_group(&watch))
        (void)bs_group_signal(pgid, SIGKILL);
    while (!bs_group_empty(pgid) && bs_now_ns() < until) {
        struct timespec moment = {0, 5 * (long)BS_NS_PER_MS};
        (void)bs_watch_kill_group(&watch);
        (void)nanosleep(&moment, NULL);
    }
}

/* The watcher process. It is the child of a program that may have threads, so it uses only
 * async-signal-safe calls. It closes all descriptors except its ends of the pipes; otherwise it
 * would keep other pipes open, and their readers would never see end-of-file. It writes 0 to
 * `ready` once that is done, or an errno. */
static void run_watcher(int fd, int ready) {
    pid_t pgid = 0;
    int pidfd = -1;
    int os_error = dup2(fd, 0) != 0 ? errno : 0;
    if (os_error == 0 && dup2(ready, 1) == 1) {
        os_error = bs_close_from(2, false);
        ready = 1;
    } else if (os_error == 0) {
        os_error = errno;
    }
    if (BS_RETRY(write(ready, &os_error, sizeof os_error)) != sizeof os_error || os_error != 0)
        _exit(1);
    bs_close(&ready);
    for (;;) {
        pid_t leader = 0;
        long n = BS_RETRY(read(0, &leader, sizeof leader));
        if (n != (long)sizeof leader)
            break;
        pgid = leader;
        pidfd = leader > 0 ? bs_pidfd(leader) : -1;
    }
    if (pgid > 0)
        end_group(pgid, pidfd);
    _exit(0);
}

/* Make a pipe with both ends above 2. Returns 0, or an errno with both ends -1. */
static int make_pipe(int *read_end, int *write_end) {
    int ends[2];
    *read_end = *write_end = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    *read_end = bs_above_stdio(ends[0]);
    int os_error = *read_end < 0 ? errno : 0;
    *write_end = bs_above_stdio(ends[1]);
    if (os_error == 0 && *write_end < 0)
        os_error = errno;
    if (os_error == 0)
        return 0;
    bs_close(read_end);
    bs_close(write_end);
    return os_error;
}

/* Wait until the watcher is ready. If it is not, kill and reap it. Returns 0 or an errno. */
static int await_ready(pid_t pid, int ready) {
    siginfo_t info;
    int os_error = 0;
    long n = BS_RETRY(read(ready, &os_error, sizeof os_error));
    if (n != sizeof os_error)
        /* the watcher was killed, so the pipe ended without a value */
        os_error = n < 0 ? errno : ECHILD;
    if (os_error == 0)
        return 0;
    (void)kill(pid, SIGKILL);
    (void)BS_RETRY(waitid(P_PID, (id_t)pid, &info, WEXITED));
    return os_error;
}

int bs_watcher_start(struct bs_watcher *watcher) {
    int fd = -1;
    int ready = -1;
    int ready_write = -1;
    /* Block all signals for the watcher too: neither the terminal nor a signal for the bridge may
     * end it. */
    sigset_t all;
    sigset_t mask;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &mask);
    int os_error = make_pipe(&fd, &watcher->fd);
    if (os_error == 0)
        os_error = make_pipe(&ready, &ready_write);
    if (os_error == 0) {
        watcher->pid = fork();
        os_error = watcher->pid < 0 ? errno : 0;
        if (watcher->pid == 0)
            run_watcher(fd, ready_write);
        bs_close(&ready_write);
        /* Move the watcher to a group of its own, so that it survives a kill of the caller's group.
         * The caller does this, because the watcher may be scheduled late. */
        if (watcher->pid > 0)
            (void)setpgid(watcher->pid, watcher->pid);
        if (watcher->pid > 0)
            os_error = await_ready(watcher->pid, ready);
    }
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    bs_close(&fd);
    bs_close(&ready);
    bs_close(&ready_write);
    if (os_error != 0)
        bs_close(&watcher->fd);
    return os_error;
}

void bs_watcher_release(struct bs_watcher *watcher) {
    const pid_t no_group = 0;
    siginfo_t info;
    if (watcher->fd < 0)
        return;
    /* If the watcher has been killed, the write fails; SIGPIPE must not end the caller. */
    struct bs_sigpipe guard = {0};
    bs_sigpipe_hold(&guard);
    (void)BS_RETRY(write(watcher->fd, &no_group, sizeof no_group));
    bs_sigpipe_release(&guard);
    bs_close(&watcher->fd);
    (void)BS_RETRY(waitid(P_PID, (id_t)watcher->pid, &info, WEXITED));
    *watcher = (struct bs_watcher)BS_WATCHER_INIT;
}
