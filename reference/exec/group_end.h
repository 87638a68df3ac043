/* End the rest of a process group after its leader has ended: SIGKILL, wait, reap. */
#ifndef BS_EXEC_GROUP_END_H
#define BS_EXEC_GROUP_END_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum bs_group_end_phase {
    BS_GROUP_KILLED, /* members get SIGKILL until all have ended; the leader is still a zombie */
    BS_GROUP_REAPED, /* members could not be listed, so the wait is for an empty group */
    BS_GROUP_ENDED
};

struct bs_group_end {
    pid_t pgid;
    enum bs_group_end_phase phase;
    uint64_t until; /* when live members are given up; 0 before the first step */
    uint64_t at;    /* when the next step is due */
};

/* Take the step that is due, without blocking. Returns true once the group has ended and the leader
 * is reaped, or once the members were given up BS_EXEC_KILL_MS after the first step. The leader
 * must be an unreaped zombie at the first step: the zombie keeps the number from being assigned to
 * another process. */
bool bs_group_end_step(struct bs_group_end *end, uint64_t now);

#endif
