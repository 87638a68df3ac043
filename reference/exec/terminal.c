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

/* The process whose run has the terminal, 0 for none. A number, because after a fork the child has
 * no run, but a copy of this. */
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

/* A process in the background may change the foreground group only with SIGTTOU blocked; else the
 * call would stop it. */
static bool set_foreground(pid_t pgid) {
    sigset_t mask;
    bs_terminal_block_output_stop(&mask);
    bool good = tcsetpgrp(STDIN_FILENO, pgid) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return good;
}

void bs_terminal_lend(struct bs_terminal *terminal) {
    /* Fails for a file, a pipe, and a terminal that is not the controlling one: none of them stops
     * a reader. */
    pid_t foreground = tcgetpgrp(STDIN_FILENO);
    terminal->inherited = foreground >= 0;
    terminal->lent = foreground == getpgrp() && claim();
}

void bs_terminal_enter_foreground(void) { (void)tcsetpgrp(STDIN_FILENO, getpgrp()); }

/* The shell may have moved the caller to the foreground since the spawn, and the run that had the
 * terminal may be over. */
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
    /* Ctrl-Z: the shell waits for the caller and not for this group, so it could not continue it.
     */
    if (denied || (stop.si_status == SIGTSTP && terminal->lent))
        (void)bs_group_signal(leader, SIGCONT);
    return 0;
}

void bs_terminal_take_back(struct bs_terminal *terminal) {
    if (!terminal->lent)
        return;
    /* The foreground group is the child's, or one that the child made, unless the caller was
     * stopped meanwhile: then its shell, which is its parent, has taken the terminal. */
    pid_t foreground = tcgetpgrp(STDIN_FILENO);
    if (foreground >= 0 && foreground != getpgrp() && foreground != getpgid(getppid()))
        (void)set_foreground(getpgrp());
    terminal->lent = false;
    unclaim();
}
