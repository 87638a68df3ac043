/* A process whose number is told before it can do anything. */
#ifndef BS_PROCESS_START_H
#define BS_PROCESS_START_H

#include <boxspec/process.h>

/* As bs_process_open; the child writes its number to `announce` first (see struct bs_plugs). */
int bs_process_start(const struct bs_exec_request *request, const struct bs_stdio *stdio,
                     const struct bs_sandbox *sandbox, int announce, struct bs_process **process,
                     struct bs_error *err);

/* When a wait of 0 ms is worth the next call although the leader has ended: its group is being
 * killed. 0 while the leader runs and after the end of the group. */
uint64_t bs_process_next_step(struct bs_process *process);

/* SIGCONT to the group: who is stopped can use a grace. */
int bs_process_continue(struct bs_process *process, struct bs_error *err);

#endif
