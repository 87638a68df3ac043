/* The state of one run between spawn and return: supervise.c changes it, report.c turns it into a
 * result. */
#ifndef BS_EXEC_RUN_H
#define BS_EXEC_RUN_H

#include <signal.h>

#include <boxspec/exec.h>

#include "exec/drain.h"
#include "exec/group_end.h"
#include "exec/signals.h"
#include "exec/spawn.h"

enum bs_cause { NONE, EXITED, DEADLINE, SIGNALLED, CANCELLED, CAPPED, STDIN_FAILED, STOPPED, LOST };

struct bs_run {
    const struct bs_exec_request *request;
    struct bs_child *child;
    const struct bs_signal_slot *slot;
    struct bs_receivers receivers;
    struct bs_drain out;
    struct bs_drain err;
    enum bs_cause cause; /* why the run was ended; NONE while it goes on */
    int signo;           /* if the cause is SIGNALLED: the signal that reached the caller */
    int stopped_by;      /* SIGTTIN or SIGTTOU that stopped the leader for good; else 0 */
    uint64_t deadline;   /* all times are CLOCK_MONOTONIC ns; BS_NEVER is no limit */
    struct bs_group_end group;
    /* until when to wait for pipes that other processes hold; 0 until the group has ended */
    uint64_t drain_until;
    int output_error; /* the errno of a stream that could not be read to its end; else 0 */
    enum bs_stream output_lost;
    pid_t member; /* the member that member_pidfd refers to; 0 if there is none */
    int member_pidfd;
    int lost_error;
    siginfo_t end; /* of the leader; si_pid is 0 while the leader runs */
    struct rusage usage;
    bool detached_writers;
    bool held_at_exit[2]; /* the output pipes that a process held when the leader had exited */
    bool killed_writers;
    unsigned unfinished; /* the streams that killed or detached writers held */
};

#endif
