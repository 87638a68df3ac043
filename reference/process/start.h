/* Parts of a process handle that only the bridge uses. */
#ifndef BS_PROCESS_START_H
#define BS_PROCESS_START_H

#include <boxspec/process.h>

/* As bs_process_open, but the child first writes its pid to `announce` (see struct bs_plugs). */
int bs_process_start(const struct bs_exec_request *request, const struct bs_stdio *stdio,
                     const struct bs_sandbox *sandbox, int announce, struct bs_process **process,
                     struct bs_error *err);

/* When the next wait of 0 ms can make progress, while the group of a leader that has ended is being
 * killed; 0 while the leader runs and after the end of the group. */
uint64_t bs_process_next_step(struct bs_process *process);

/* Send SIGCONT to the group: a stopped member cannot use its grace period. */
int bs_process_continue(struct bs_process *process, struct bs_error *err);

#endif
