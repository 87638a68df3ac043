#define _GNU_SOURCE
#include "exec/terminal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "exec/group.h"

/* The pid of the process whose run has the terminal, or 0. It is a pid and not a flag, because a
 * forked child inherits this variable but not the run. */
static atomic_int holder;

static bool claim(void) {
    int self = getpid();
    int seen = atomic_load(&holder);
    return seen != self && atomic_compare_exchange_strong(&holder, &seen, self);
}

static void unclaim(void) { atomic_store(&holder, 0); }

void bs_terminal_block_output_stop(sigset_t *mask) {
    sigset_t output;
    (void)sigemptyset(&output);
    (void)sigaddset(&output, SIGTTOU);
    (void)pthread_sigmask(SIG_BLOCK, &output, mask);
}

/* Block SIGTTOU meanwhile, because it would stop a background process that changes the foreground
 * group. */
static bool set_foreground(pid_t pgid) {
    sigset_t mask;
    bs_terminal_block_output_stop(&mask);
    bool good = tcsetpgrp(STDIN_FILENO, pgid) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return good;
}

void bs_terminal_lend(struct bs_terminal *terminal) {
    /* tcgetpgrp fails for a file, a pipe and a terminal that is not the controlling terminal. None
     * of these stops a process that reads. */
    pid_t foreground = tcgetpgrp(STDIN_FILENO);
    terminal->inherited = foreground >= 0;
    terminal->lent = foreground == getpgrp() && claim();
}

void bs_terminal_enter_foreground(void) { (void)tcsetpgrp(STDIN_FILENO, getpgrp()); }

/* Lend the terminal now. The terminal may have become free since the spawn, because the shell has
 * moved the caller to the foreground or another run has ended. */
static bool lend_now(struct bs_terminal *terminal, pid_t leader) {
    bool claimed = !terminal->lent && claim();
    if (!terminal->lent && !claimed)
        return false;
    pid_t foreground = tcgetpgrp(STDIN_FILENO);
    bool good = foreground == leader || (foreground == getpgrp() && set_foreground(leader));
    if (claimed && !good)
        unclaim();
    terminal->lent = terminal->lent || good;
    return good;
}

int bs_terminal_check_stop(struct bs_terminal *terminal, pid_t leader) {
    siginfo_t stop;
    memset(&stop, 0, sizeof stop);
    if (!terminal->inherited ||
        BS_RETRY(waitid(P_PID, (id_t)leader, &stop, WSTOPPED | WNOHANG)) != 0 || stop.si_pid == 0)
        return 0;
    bool denied = stop.si_status == SIGTTIN || stop.si_status == SIGTTOU;
    if (denied && !lend_now(terminal, leader))
        return stop.si_status;
    /* Ctrl-Z sends SIGTSTP to the group that has the terminal. The shell waits for the caller and
     * not for this group, so the shell would never continue it. */
    if (denied || (stop.si_status == SIGTSTP && terminal->lent))
        (void)bs_group_signal(leader, SIGCONT);
    return 0;
}

void bs_terminal_take_back(struct bs_terminal *terminal) {
    if (!terminal->lent)
        return;
    /* Usually the foreground group is the child's or one that the child made. If it is another
     * group, the shell has taken the terminal because the caller was stopped, and must keep it. */
    pid_t foreground = tcgetpgrp(STDIN_FILENO);
    if (foreground >= 0 && foreground != getpgrp() && foreground != getpgid(getppid()))
        (void)set_foreground(getpgrp());
    terminal->lent = false;
    unclaim();
}
