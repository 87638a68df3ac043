/* The process group of a run: who is in it, and what is sent to it. */
#ifndef BS_EXEC_GROUP_H
#define BS_EXEC_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bs_members {
    bool known;     /* /proc could be read to its end */
    unsigned alive; /* neither zombies nor dead; a zombie with further threads is alive */
    pid_t witness;  /* one of those alive, 0 for none */
};

/* Looks for members of pgid that started at or before `not_after` (clock ticks since boot; see
 * bs_boot_ticks; UINT64_MAX for any). Zombies among them that became children of the caller are
 * collected, each by its own number, `leader` excepted. */
struct bs_members bs_group_look(pid_t pgid, pid_t leader, uint64_t not_after);

/* Now, in the unit of a process's start time. */
uint64_t bs_boot_ticks(void);

/* Sends to the group whose unreaped leader is pgid; refuses 0, 1, negative numbers and the caller's
 * own group, whatever led to them. False when the system refused to send it, which is worth another
 * try; an empty group is none. */
bool bs_group_signal(pid_t pgid, int signo);

/* True when no process, zombies included, has this group. May be asked after the reap. */
bool bs_group_empty(pid_t pgid);

#endif
