/* End a process group: a signal, the grace period, SIGKILL, wait, reap.
 *
 *   1. Start with a struct that is all 0. bs_group_end_start sends a signal and begins the grace
 *      period; bs_group_end_kill sends SIGKILL; bs_group_end_after_exit is for a leader that has
 *      ended by itself.
 *   2. bs_group_end_step when `at` is due, and at once when the leader or the process `live_pid`
 *      has ended, until it returns true. To skip the wait for `at`, set it to 0.
 *
 * No call blocks. The leader is the caller's child. It is reaped after the last signal, because its
 * zombie keeps the number of the group from being assigned again.
 */
#ifndef BS_EXEC_GROUP_END_H
#define BS_EXEC_GROUP_END_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum bs_group_end_phase {
    BS_GROUP_RUNS = 0,
    BS_GROUP_GRACE,  /* the group was sent a signal and has time until `until` */
    BS_GROUP_KILLED, /* the group was sent SIGKILL; members alive at `until` are given up */
    BS_GROUP_REAPED, /* the leader is reaped; older members may still be dying until `until` */
    BS_GROUP_ENDED
};

struct bs_group_end {
    pid_t pgid;
    enum bs_group_end_phase phase;
    uint64_t until; /* CLOCK_MONOTONIC ns, as `at` */
    uint64_t at;    /* when the next step is due */
    pid_t live_pid; /* a member that was alive at the last step; 0: none is known */
    unsigned left;  /* members that were given up */
    int unsent;     /* the first signal, while the kernel refuses to send it; else 0 */
    bool leader_ended;
    uint64_t killed_at;
    uint64_t reaped_at; /* clock ticks since boot */
};

/* Send a signal, and SIGCONT because a stopped member could not act on it before SIGKILL. During a
 * grace period the signal is sent again, and the earlier end of the two grace periods is kept. */
void bs_group_end_start(struct bs_group_end *end, pid_t pgid, int signo, uint64_t grace_ms,
                        uint64_t now);

void bs_group_end_kill(struct bs_group_end *end, pid_t pgid, uint64_t now);

/* Send SIGKILL to the rest of the group and reap the leader, an unreaped zombie. An empty group has
 * ended then. */
void bs_group_end_after_exit(struct bs_group_end *end, pid_t pgid, uint64_t now);

/* Take the step that is due. Returns true in the phase BS_GROUP_ENDED: all members have ended and
 * the leader is reaped, or members were given up BS_EXEC_KILL_MS after the first SIGKILL. */
bool bs_group_end_step(struct bs_group_end *end, bool leader_ended, uint64_t now);

#endif
