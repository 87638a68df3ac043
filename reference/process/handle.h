/* The handle of a process: process.c has its calls, ending.c ends its group. */
#ifndef BS_PROCESS_HANDLE_H
#define BS_PROCESS_HANDLE_H

#include <boxspec/process.h>

#include <pthread.h>

#include "exec/group_end.h"
#include "exec/spawn.h"

struct bs_process {
    pid_t pid;
    struct bs_watch watch; /* closed by the drop, because a wait may be polling it */
    struct bs_terminal terminal;
    int stopped_by;            /* SIGTTIN or SIGTTOU that stopped the program for good; else 0 */
    pthread_mutex_t lock;      /* guards all fields below */
    pthread_cond_t call_ended; /* signalled at the end of each call */
    unsigned calls;            /* calls that have begun and not ended */
    int streams[3];            /* the caller's ends; -1 once taken or closed */
    int report; /* of a launcher, closed by the drop because that ends the launcher; else -1 */
    struct bs_group_end group_end;
    struct bs_process_end leader_end; /* its state is BS_PROCESS_RUNS until the leader has ended */
    struct bs_process_end end;        /* becomes leader_end when the group has ended */
    int lost_error; /* errno if another part of the program reaped the child; else 0 */
    bool detached_writers;
};

/* Lock the handle and count a call, and the reverse. */
void bs_process_begin_call(struct bs_process *process);
void bs_process_end_call(struct bs_process *process);

/* All below: the lock is held. */

/* True if the group has ended, or if another part of the program reaped the child. */
bool bs_process_is_over(const struct bs_process *process);

/* Take one step without blocking. When the leader has ended, the rest of the group is killed; if
 * `keeps_grace` is true, only after its grace period. Returns bs_process_is_over. */
bool bs_process_step_to_end(struct bs_process *process, bool keeps_grace);

/* Wait until the group has ended or until `until`. */
void bs_process_await_end(struct bs_process *process, uint64_t until);

/* Wait until a group that is being ended has ended or is given up. A leader that ends before its
 * members stays a zombie meanwhile, because the grace period is for the whole group. */
void bs_process_await_ended_group(struct bs_process *process);

/* Send SIGTERM and begin the grace period, unless the group was sent SIGKILL. If a grace period has
 * begun before, the earlier end of the two is kept. */
void bs_process_set_grace(struct bs_process *process, uint64_t grace_ms);

/* Fill *end. Returns 0, or BS_E_EXECUTION if another part of the program reaped the child. */
int bs_process_report_end(const struct bs_process *process, struct bs_process_end *end,
                          struct bs_error *err);

#endif
