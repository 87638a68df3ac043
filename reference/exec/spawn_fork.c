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

/* Reset all handled signals to their default. A handler of the calling program must not run in the
 * child, and a signal that is pending for it must not reach the program. */
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

/* Take the steps up to exec. Returns the first step that fails, with errno set, or BS_STEP_NONE. */
static enum bs_spawn_step prepare(const struct bs_spawn_args *spawn, int *failures) {
    if ((spawn->report >= 0 ? setsid() : setpgid(0, 0)) == -1)
        return BS_STEP_GROUP;
    if (spawn->takes_terminal)
        bs_terminal_enter_foreground();
    pid_t self = getpid();
    /* atomic, because it is shorter than PIPE_BUF */
    if (spawn->announce >= 0 && BS_RETRY(write(spawn->announce, &self, sizeof self)) < 0)
        return BS_STEP_ANNOUNCE;
    reset_dispositions();
    if (spawn->cwd >= 0 && fchdir(spawn->cwd) != 0)
        return BS_STEP_DIRECTORY;
    if (spawn->in >= 0 && dup2(spawn->in, 0) != 0)
        return BS_STEP_STDIN;
    if (spawn->out >= 0 && dup2(spawn->out, 1) != 1)
        return BS_STEP_STDOUT;
    if (spawn->err >= 0 && dup2(spawn->err, 2) != 2)
        return BS_STEP_STDERR;
    if (spawn->report < 0)
        return BS_STEP_NONE;
    /* Move the pipe above the number at which the launcher expects its report. */
    int moved = fcntl(*failures, F_DUPFD_CLOEXEC, BS_LAUNCH_REPORT_FD + 1);
    if (moved < 0)
        return BS_STEP_REPORT;
    *failures = moved;
    /* dup2 of a descriptor onto itself would leave close-on-exec set. */
    bool placed = spawn->report == BS_LAUNCH_REPORT_FD
                      ? fcntl(spawn->report, F_SETFD, 0) == 0
                      : dup2(spawn->report, BS_LAUNCH_REPORT_FD) == BS_LAUNCH_REPORT_FD;
    return placed ? BS_STEP_NONE : BS_STEP_REPORT;
}

/* The message of the child to its parent. It is shorter than PIPE_BUF, so it is written in one
 * piece. */
struct failure {
    int os_error;
    enum bs_spawn_step step;
};

/* This runs between fork and exec in a program that may have threads. So only async-signal-safe
 * calls are allowed: no allocation, no locks. */
static void execute_child(const struct bs_spawn_args *spawn, const sigset_t *mask, int report) {
    struct failure failure = {.step = prepare(spawn, &report)};
    if (failure.step == BS_STEP_NONE) {
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        (void)execve(spawn->path, spawn->argv, spawn->envp);
    }
    failure.os_error = errno;
    (void)!write(report, &failure, sizeof failure);
    _exit(127);
}

int bs_spawn_fork(const struct bs_spawn_args *spawn, pid_t *pid, enum bs_spawn_step *step) {
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
        execute_child(spawn, &mask, report[1]);
    if (*pid < 0)
        os_error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    bs_close(&report[1]);
    if (*pid > 0) {
        /* Read the failure of the child. End-of-file means that exec has succeeded. */
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
