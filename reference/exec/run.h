/* The state of one run between spawn and return: supervise.c moves it, report.c says what it means.
 */
#ifndef BS_EXEC_RUN_H
#define BS_EXEC_RUN_H

#include <signal.h>

#include <boxspec/exec.h>

#include "exec/drain.h"
#include "exec/signals.h"
#include "exec/spawn.h"

/* A run only ever moves down this list. */
enum bs_phase {
    RUNNING, /* nothing has ended the run yet */
    GRACE,   /* the group was sent its signal and has time until `until` */
    KILLED,  /* the group was sent SIGKILL; what is alive at `until` is given up */
    REAPED,  /* the leader was collected; members older than that may still be dying */
    DRAINING /* the group is gone; a stranger may hold our pipes until `until` */
};

enum bs_cause { NONE, EXITED, DEADLINE, SIGNALLED, CANCELLED, CAPPED, STDIN_FAILED, STOPPED, LOST };

struct bs_run {
    const struct bs_exec_request *request;
    struct bs_child *child;
    const struct bs_signal_slot *slot;
    struct bs_outlets outlets;
    struct bs_drain out;
    struct bs_drain err;
    enum bs_phase phase;
    enum bs_cause cause;
    int signo;         /* of the caller, with SIGNALLED */
    int stopped_by;    /* SIGTTIN or SIGTTOU that stopped the leader for good; else 0 */
    uint64_t deadline; /* all times: CLOCK_MONOTONIC ns, BS_NEVER for none */
    uint64_t until;
    uint64_t reaped_at; /* clock ticks since boot */
    bool leader_gone;   /* it is a zombie, or was collected */
    int output_error;   /* errno: a stream that could not be read to its end, 0 for none */
    enum bs_stream output_lost;
    int unsent;       /* the first signal, while the system refuses to send it; else 0 */
    int witness;      /* pidfd of a member that is waited for, -1 for none */
    uint64_t look_at; /* when the group is to be looked at again; 0 for at once */
    unsigned alive;   /* what the last look found */
    int lost_error;
    siginfo_t end;
    struct rusage usage;
    unsigned group_left;
    bool detached_writers;
};

#endif
