/* The handle of a process. process.c has the functions of the public header; ending.c ends the
 * group. */
#ifndef BS_PROCESS_HANDLE_H
#define BS_PROCESS_HANDLE_H

#include <boxspec/process.h>

#include <pthread.h>
#include <stdatomic.h>

#include "exec/group_end.h"
#include "exec/spawn.h"

struct bs_process {
    pid_t pid;
    /* closed only by bs_process_drop, because a wait on another thread may be polling it */
    struct bs_watch watch;
    struct bs_terminal terminal;
    int stopped_by;            /* SIGTTIN or SIGTTOU that stopped the program for good; else 0 */
    atomic_uint calls;         /* calls that have begun, with or without the lock */
    pthread_mutex_t lock;      /* protects all fields below */
    pthread_cond_t call_ended; /* signalled when a call on the handle ends */
    int streams[3];            /* the caller's ends of the pipes; -1 once taken or closed */
    /* report socket of a launcher, else -1. Only bs_process_drop closes it, because the launcher
     * ends when it is closed. */
    int report;
    struct bs_group_end group_end;
    struct bs_process_end leader_end; /* how the leader ended; BS_PROCESS_RUNS before that */
    /* how the process ended: as leader_end, once the group has ended */
    struct bs_process_end end;
    int lost_error; /* errno if another part of the program reaped the child; else 0 */
    bool detached_writers;
};

/* Lock the handle and count a call. bs_process_end_call reverses both. */
void bs_process_begin_call(struct bs_process *process);
void bs_process_end_call(struct bs_process *process);

/* The functions below must be called with the lock held. */

/* True if the group has ended, or if another part of the program reaped the child. */
bool bs_process_is_over(const struct bs_process *process);

/* Take one step of ending the process, without blocking. Once the leader has ended, the rest of the
 * group is killed: at once, or with `keeps_grace` after the grace period. Returns
 * bs_process_is_over. */
bool bs_process_step_to_end(struct bs_process *process, bool keeps_grace);

/* Wait until the group has ended or until `until`. */
void bs_process_await_end(struct bs_process *process, uint64_t until);

/* Wait until the group has ended or is given up. Ending it must have begun before. If the leader
 * ends before the other members, it stays a zombie, because the grace period is for the whole
 * group. */
void bs_process_await_ended_group(struct bs_process *process);

/* Send SIGTERM and begin the grace period, unless the group was sent SIGKILL already. If a grace
 * period has begun before, the earlier end of the two is kept. */
void bs_process_set_grace(struct bs_process *process, uint64_t grace_ms);

/* Fill *end. Returns 0, or BS_E_EXECUTION if another part of the program reaped the child. */
int bs_process_report_end(const struct bs_process *process, struct bs_process_end *end,
                          struct bs_error *err);

#endif
