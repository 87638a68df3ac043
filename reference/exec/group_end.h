/* Ends a process group: sends a signal, waits for the grace period, sends SIGKILL, waits, reaps the
 * leader.
 *
 *   1. Begin with a struct that is all 0. Then call one function: bs_group_end_start sends a signal
 *      and begins the grace period; bs_group_end_kill sends SIGKILL; bs_group_end_after_exit is for
 *      a leader that has ended by itself.
 *   2. Call bs_group_end_step until it returns true: when `at` is due, and at once when the leader
 *      or the process `live_pid` has ended. To take the next step without waiting, set `at` to 0.
 *
 * No call blocks. Usually the leader is a child of the caller. It is reaped after the last signal,
 * because its zombie keeps the number of the group from being assigned again. The launcher ends
 * other sets of processes by the same steps; it sets `reach` for this. */
#ifndef BS_EXEC_GROUP_END_H
#define BS_EXEC_GROUP_END_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec/group.h"

/* How to signal and how to find the processes to end. */
struct bs_group_reach {
    /* As bs_group_signal. */
    bool (*signal)(pid_t pgid, int signo);
    /* As bs_group_find_members with the leader pgid. */
    struct bs_members (*find)(pid_t pgid, uint64_t not_after);
};

enum bs_group_end_phase {
    BS_GROUP_RUNS = 0,
    BS_GROUP_GRACE, /* a signal was sent; the group has until `until` to end */
    /* SIGKILL was sent; at the time `until`, members that are still alive are given up */
    BS_GROUP_KILLED,
    BS_GROUP_REAPED, /* the leader is reaped; other members may still be dying, until `until` */
    BS_GROUP_ENDED
};

struct bs_group_end {
    const struct bs_group_reach *reach; /* NULL: the processes are the group of a child */
    pid_t pgid;
    enum bs_group_end_phase phase;
    uint64_t until; /* in ns of CLOCK_MONOTONIC, like `at` */
    uint64_t at;    /* time of the next step */
    pid_t live_pid; /* a member that was alive at the last step; 0: none is known */
    unsigned left;  /* members that were given up */
    int unsent;     /* the first signal, if the kernel has refused to send it so far; else 0 */
    bool leader_ended;
    uint64_t killed_at;
    uint64_t reaped_at; /* clock ticks since boot */
};

/* Send a signal, and SIGCONT so that a stopped member can handle it. The grace period begins after
 * the signal. If one has begun already, the signal is sent again and the earlier end of the two
 * grace periods is kept. */
void bs_group_end_start(struct bs_group_end *end, pid_t pgid, int signo, uint64_t grace_ms);

void bs_group_end_kill(struct bs_group_end *end, pid_t pgid, uint64_t now);

/* Send SIGKILL to the rest of the group, and reap the leader, which must be an unreaped zombie. If
 * the group is empty, its end is reached at once. */
void bs_group_end_after_exit(struct bs_group_end *end, pid_t pgid, uint64_t now);

/* Take the step that is due. Returns true in the phase BS_GROUP_ENDED: all members have ended and
 * the leader is reaped, or the remaining members were given up BS_EXEC_KILL_MS after the first
 * SIGKILL. */
bool bs_group_end_step(struct bs_group_end *end, bool leader_ended, uint64_t now);

#endif
