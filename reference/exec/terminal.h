/* The caller's controlling terminal as the standard input of a child.
 *
 * A child has a process group of its own, and a group that is not in the foreground of its terminal
 * is stopped by SIGTTIN when it reads there. So the terminal is lent: the child makes its own group
 * the foreground group before it becomes the program, and the caller takes the terminal back after
 * the run. One run of a process has it at a time. */
#ifndef BS_EXEC_TERMINAL_H
#define BS_EXEC_TERMINAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct bs_terminal {
    bool inherited; /* the child's standard input is the controlling terminal: it can be stopped */
    bool lent;      /* its group may be the foreground group until the terminal is taken back */
};

#define BS_TERMINAL_INIT                                                                           \
    { false, false }

/* Call before the spawn of a child that inherits descriptor 0. If `lent` becomes true, the child
 * must take the terminal. It stays false if the caller is in the background or another run has the
 * terminal. */
void bs_terminal_lend(struct bs_terminal *terminal);

/* In the child, async-signal-safe: makes the calling process's group the foreground group. SIGTTOU
 * must be blocked. A failure is ignored: the parent sees the stop that follows from it. */
void bs_terminal_enter_foreground(void);

/* Look for a stop of the leader, an unreaped child. A keyboard stop (SIGTSTP) is continued at once;
 * so is SIGTTIN or SIGTTOU if the terminal can be lent by now. Return the signal of a stop that
 * would last for ever, else 0. */
int bs_terminal_check_stop(struct bs_terminal *terminal, pid_t leader);

/* Block SIGTTOU in the calling thread; *mask becomes the mask to restore. */
void bs_terminal_block_output_stop(sigset_t *mask);

/* Make the caller's group the foreground group again, unless the shell has taken the terminal
 * meanwhile. No effect if the terminal was not lent. */
void bs_terminal_take_back(struct bs_terminal *terminal);

#endif
