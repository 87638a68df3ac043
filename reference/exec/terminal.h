/* Lends the controlling terminal of the caller to a child that inherits it as standard input.
 *
 * A child has its own process group, and a group that is not in the foreground of its terminal is
 * stopped by SIGTTIN when it reads from the terminal. So the child makes its group the foreground
 * group before it executes the program. The caller takes the terminal back after the run. Only one
 * run of a process can have the terminal at a time. */
#ifndef BS_EXEC_TERMINAL_H
#define BS_EXEC_TERMINAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct bs_terminal {
    /* standard input of the child is the controlling terminal, so the terminal can stop it */
    bool inherited;
    bool lent; /* the child's group may be the foreground group until the terminal is taken back */
};

#define BS_TERMINAL_INIT                                                                           \
    { false, false }

/* Call before the spawn of a child that inherits descriptor 0. If `lent` becomes true, the child
 * must take the terminal. `lent` stays false if the caller is in the background or another run has
 * the terminal. */
void bs_terminal_lend(struct bs_terminal *terminal);

/* Make the group of the calling process the foreground group. Runs in the child, async-signal-safe;
 * SIGTTOU must be blocked. A failure is ignored, because the parent notices the stop that
 * follows. */
void bs_terminal_enter_foreground(void);

/* Find out whether the leader, an unreaped child, is stopped. After a stop by the keyboard
 * (SIGTSTP) it is continued at once, and after SIGTTIN or SIGTTOU too if the terminal can be lent
 * now. Return the signal of a stop that would last for ever, otherwise 0. */
int bs_terminal_check_stop(struct bs_terminal *terminal, pid_t leader);

/* Block SIGTTOU in the calling thread; *mask becomes the mask to restore. */
void bs_terminal_block_output_stop(sigset_t *mask);

/* Make the caller's group the foreground group again, unless the shell has taken the terminal
 * meanwhile. Does nothing if the terminal was not lent. */
void bs_terminal_take_back(struct bs_terminal *terminal);

#endif
