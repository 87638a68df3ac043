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

/* The group is killed until nobody is left who could still be forking; the leader is an orphan by
 * now and is collected by whoever adopted it. The pidfd still means its group then. */
static void end_group(pid_t pgid, int pidfd) {
    const struct bs_watch leader = {.fd = pidfd, .is_pidfd = pidfd >= 0};
    uint64_t until = bs_after_ms(bs_now_ns(), 500);
    if (!bs_watch_kill_group(&leader))
        (void)bs_group_signal(pgid, SIGKILL);
    while (!bs_group_empty(pgid) && bs_now_ns() < until) {
        struct timespec moment = {0, 5 * (long)BS_NS_PER_MS};
        (void)bs_watch_kill_group(&leader);
        (void)nanosleep(&moment, NULL);
    }
}

/* In the child of a program that may have threads: async-signal-safe calls only. It holds nothing
 * but its end of the pipe, so whoever waits for an end of 0, 1 or 2 does not wait for it. `word` is
 * told when that is so: 0, or an errno and it is gone. */
static void watch(int fd, int word) {
    pid_t pgid = 0;
    int pidfd = -1;
    int os_error = dup2(fd, 0) != 0 ? errno : 0;
    if (os_error == 0 && dup2(word, 1) == 1) {
        os_error = bs_close_from(2, false);
        word = 1;
    } else if (os_error == 0) {
        os_error = errno;
    }
    if (BS_RETRY(write(word, &os_error, sizeof os_error)) != sizeof os_error || os_error != 0)
        _exit(1);
    bs_close(&word);
    for (;;) {
        pid_t told = 0;
        long n = BS_RETRY(read(0, &told, sizeof told));
        if (n != (long)sizeof told)
            break;
        pgid = told;
        pidfd = told > 0 ? bs_pidfd(told) : -1;
    }
    if (pgid > 0)
        end_group(pgid, pidfd);
    _exit(0);
}

/* A pipe whose ends are above 2; both are -1 behind an error. 0 or an errno. */
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

/* A watcher that could not become one, or whose word cannot be read, is ended and collected. 0 or
 * an errno. */
static int await_word(pid_t pid, int word) {
    siginfo_t info;
    int os_error = 0;
    long n = BS_RETRY(read(word, &os_error, sizeof os_error));
    if (n != sizeof os_error)
        os_error = n < 0 ? errno : ECHILD; /* it was killed */
    if (os_error == 0)
        return 0;
    (void)kill(pid, SIGKILL);
    (void)BS_RETRY(waitid(P_PID, (id_t)pid, &info, WEXITED));
    return os_error;
}

int bs_watcher_start(struct bs_watcher *watcher) {
    int fd = -1;
    int word = -1;
    int say = -1;
    /* Signals stay blocked in it: a terminal's, and those that are the bridge's to act on. */
    sigset_t all;
    sigset_t mask;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &mask);
    int os_error = make_pipe(&fd, &watcher->fd);
    if (os_error == 0)
        os_error = make_pipe(&word, &say);
    if (os_error == 0) {
        watcher->pid = fork();
        os_error = watcher->pid < 0 ? errno : 0;
        if (watcher->pid == 0)
            watch(fd, say);
        bs_close(&say);
        /* Who kills our group must not meet it there, however late it gets a processor. */
        if (watcher->pid > 0)
            (void)setpgid(watcher->pid, watcher->pid);
        if (watcher->pid > 0)
            os_error = await_word(watcher->pid, word);
    }
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    bs_close(&fd);
    bs_close(&word);
    bs_close(&say);
    if (os_error != 0)
        bs_close(&watcher->fd);
    return os_error;
}

void bs_watcher_release(struct bs_watcher *watcher) {
    const pid_t nobody = 0;
    siginfo_t info;
    if (watcher->fd < 0)
        return;
    /* A watcher that has gone is no reason to die of SIGPIPE. */
    struct bs_sigpipe guard = {0};
    bs_sigpipe_hold(&guard);
    (void)BS_RETRY(write(watcher->fd, &nobody, sizeof nobody));
    bs_sigpipe_release(&guard);
    bs_close(&watcher->fd);
    (void)BS_RETRY(waitid(P_PID, (id_t)watcher->pid, &info, WEXITED));
    *watcher = (struct bs_watcher)BS_WATCHER_INIT;
}
