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

#include <boxspec/exec.h>

#include "base/sys.h"
#include "exec/terminal.h"

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

/* The first step that fails, with errno. */
static enum bs_spawn_step prepare(const struct bs_launch *launch, int *failures) {
    if ((launch->report >= 0 ? setsid() : setpgid(0, 0)) == -1)
        return BS_STEP_GROUP;
    if (launch->takes_terminal)
        bs_terminal_enter_foreground();
    pid_t self = getpid();
    /* Less than PIPE_BUF: it comes whole. */
    if (launch->announce >= 0 && BS_RETRY(write(launch->announce, &self, sizeof self)) < 0)
        return BS_STEP_ANNOUNCE;
    reset_dispositions();
    if (launch->cwd >= 0 && fchdir(launch->cwd) != 0)
        return BS_STEP_DIRECTORY;
    if (launch->in >= 0 && dup2(launch->in, 0) != 0)
        return BS_STEP_STDIN;
    if (launch->out >= 0 && dup2(launch->out, 1) != 1)
        return BS_STEP_STDOUT;
    if (launch->err >= 0 && dup2(launch->err, 2) != 2)
        return BS_STEP_STDERR;
    if (launch->report < 0)
        return BS_STEP_NONE;
    /* Our own way to tell of a failure may have the number that the launcher expects. */
    int moved = fcntl(*failures, F_DUPFD_CLOEXEC, BS_LAUNCH_REPORT_FD + 1);
    if (moved < 0)
        return BS_STEP_REPORT;
    *failures = moved;
    /* On itself, dup2 changes nothing, close-on-exec neither. */
    bool placed = launch->report == BS_LAUNCH_REPORT_FD
                      ? fcntl(launch->report, F_SETFD, 0) == 0
                      : dup2(launch->report, BS_LAUNCH_REPORT_FD) == BS_LAUNCH_REPORT_FD;
    return placed ? BS_STEP_NONE : BS_STEP_REPORT;
}

/* What the child tells its parent: less than PIPE_BUF, so it comes whole or not at all. */
struct failure {
    int os_error;
    enum bs_spawn_step step;
};

/* Between fork and exec of a threaded program: async-signal-safe calls only, no allocation, no
 * locks. */
static void become(const struct bs_launch *launch, const sigset_t *mask, int report) {
    struct failure failure = {.step = prepare(launch, &report)};
    if (failure.step == BS_STEP_NONE) {
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        (void)execve(launch->path, launch->argv, launch->envp);
    }
    failure.os_error = errno;
    (void)!write(report, &failure, sizeof failure);
    _exit(127);
}

int bs_spawn_fork(const struct bs_launch *launch, pid_t *pid, enum bs_spawn_step *step) {
    int report[2];
    *step = BS_STEP_NONE;
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
        struct failure failure;
        if (BS_RETRY(read(report[0], &failure, sizeof failure)) == (long)sizeof failure) {
            siginfo_t info;
            (void)BS_RETRY(waitid(P_PID, (id_t)*pid, &info, WEXITED));
            os_error = failure.os_error;
            *step = failure.step;
        }
    }
    bs_close(&report[0]);
    return os_error;
}
