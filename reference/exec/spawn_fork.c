#define _GNU_SOURCE
#include "exec/spawn_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"

bool bs_clone3_refused(void) { return syscall(SYS_clone3, NULL, 0) == -1 && errno == EPERM; }

/* Handlers of the calling program must not run in the child, and the new program must not find
 * signals that were pending for them: all handled signals go back to their default. */
static void reset_dispositions(void) {
    for (int signo = 1; signo < NSIG; signo++) {
        struct sigaction action;
        if (sigaction(signo, NULL, &action) != 0)
            continue;
        bool ours = signo == SIGINT || signo == SIGTERM || signo == SIGPIPE;
        if (!ours && (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL))
            continue;
        memset(&action, 0, sizeof action);
        action.sa_handler = SIG_DFL;
        (void)sigaction(signo, &action, NULL);
    }
}

/* Between fork and exec of a threaded program: async-signal-safe calls only, no allocation, no
 * locks. */
static void become(const struct bs_launch *launch, const sigset_t *mask, int report) {
    bool ready = setpgid(0, 0) == 0;
    reset_dispositions();
    if (ready && launch->cwd >= 0)
        ready = fchdir(launch->cwd) == 0;
    if (ready && launch->in >= 0)
        ready = dup2(launch->in, 0) == 0;
    ready = ready && dup2(launch->out, 1) == 1 && dup2(launch->err, 2) == 2;
    if (ready) {
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        (void)execve(launch->path, launch->argv, launch->envp);
    }
    int os_error = errno;
    (void)!write(report, &os_error, sizeof os_error);
    _exit(127);
}

int bs_spawn_fork(const struct bs_launch *launch, pid_t *pid) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    report[0] = bs_above_stdio(report[0]);
    report[1] = bs_above_stdio(report[1]);
    sigset_t all;
    sigset_t mask;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &mask);
    int os_error = 0;
    *pid = report[0] >= 0 && report[1] >= 0 ? fork() : -1;
    if (*pid == 0)
        become(launch, &mask, report[1]);
    if (*pid < 0)
        os_error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    bs_close(&report[1]);
    if (*pid > 0) {
        /* Closed by exec, or the reason why there was none. */
        ssize_t n = (ssize_t)BS_RETRY(read(report[0], &os_error, sizeof os_error));
        if (n == (ssize_t)sizeof os_error) {
            siginfo_t info;
            (void)BS_RETRY(waitid(P_PID, (id_t)*pid, &info, WEXITED));
        } else {
            os_error = 0;
        }
    }
    bs_close(&report[0]);
    return os_error;
}
