/* Functions of a process handle that only the bridge uses. */
#ifndef BS_PROCESS_START_H
#define BS_PROCESS_START_H

#include <boxspec/process.h>

/* As bs_process_open, but the child first writes its pid to `announce` (struct bs_connections). */
int bs_process_start(const struct bs_exec_request *request, const struct bs_stdio *stdio,
                     const struct bs_sandbox *sandbox, int announce, struct bs_process **process,
                     struct bs_error *err);

/* Send SIGTERM to the group, and begin the grace period after which it gets SIGKILL. */
void bs_process_start_grace(struct bs_process *process, uint64_t grace_ms);

struct bs_process_step {
    struct bs_process_end end;
    bool leader_ended;
    uint64_t at; /* when the next step is due; BS_NEVER: not before the leader has ended */
};

/* As bs_process_wait with a limit of 0 ms, but after the end of the leader the other members keep
 * their grace period. */
int bs_process_step(struct bs_process *process, struct bs_process_step *step, struct bs_error *err);

#endif
