/* The end of what is left of a process group after its leader has ended: SIGKILL, wait, reap. */
#ifndef BS_EXEC_GROUP_END_H
#define BS_EXEC_GROUP_END_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum bs_group_end_phase {
    BS_GROUP_KILLED, /* members get SIGKILL until none is alive; the leader is still a zombie */
    BS_GROUP_REAPED, /* members could not be listed: the wait is for an empty group number */
    BS_GROUP_ENDED
};

struct bs_group_end {
    pid_t pgid;
    enum bs_group_end_phase phase;
    uint64_t until; /* when members that are still alive are given up; 0 before the first step */
    uint64_t at;    /* when the next step is due */
};

/* Takes the step that is due, and never blocks. Returns true once the group has ended and the
 * leader is reaped, or the members were given up BS_EXEC_KILL_MS after the first step. The leader
 * must be an unreaped zombie at the first step: that keeps its number from other processes. */
bool bs_group_end_step(struct bs_group_end *end, uint64_t now);

#endif
