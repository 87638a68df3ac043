/* Finds the members of a process group, and signals the group. */
#ifndef BS_EXEC_GROUP_H
#define BS_EXEC_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bs_members {
    bool known; /* all of /proc could be read */
    /* members that have not ended; a zombie with other threads that run has not ended */
    unsigned alive;
    pid_t live_pid; /* a live member; 0 if there is none */
};

/* Look for members of pgid that started at or before `not_after` (clock ticks since boot; see
 * bs_boot_ticks; UINT64_MAX: any). Zombie members that became children of the caller are reaped,
 * except `leader`. */
struct bs_members bs_group_find_members(pid_t pgid, pid_t leader, uint64_t not_after);

/* Return the current time in the unit of a process's start time: clock ticks since boot. */
uint64_t bs_boot_ticks(void);

/* Send a signal to the group whose unreaped leader is pgid. The numbers 0, 1, negative ones and the
 * caller's own group are never signalled. Returns false if the kernel refused to send it, so that
 * the caller can try again; an empty group is a success. */
bool bs_group_signal(pid_t pgid, int signo);

/* True if no process, not even a zombie, is in the group. The leader may be reaped already. */
bool bs_group_empty(pid_t pgid);

#endif
