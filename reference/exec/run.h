/* The state of one run between spawn and return: supervise.c changes it, report.c turns it into a
 * result. */
#ifndef BS_EXEC_RUN_H
#define BS_EXEC_RUN_H

#include <signal.h>

#include <boxspec/exec.h>

#include "exec/drain.h"
#include "exec/signals.h"
#include "exec/spawn.h"

/* A run moves down this list only. */
enum bs_phase {
    RUNNING, /* no cause has ended the run yet */
    GRACE,   /* the group was sent a signal; its grace period ends at `until` */
    KILLED,  /* the group was sent SIGKILL; members alive at `until` are given up */
    REAPED,  /* the leader is reaped; older members may still be dying */
    DRAINING /* the group has ended; a process outside it may hold the pipes until `until` */
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
    int signo;         /* with SIGNALLED: the signal that reached the caller */
    int stopped_by;    /* SIGTTIN or SIGTTOU that stopped the leader for good; else 0 */
    uint64_t deadline; /* times are CLOCK_MONOTONIC ns; BS_NEVER: no limit */
    uint64_t until;
    uint64_t reaped_at; /* clock ticks since boot */
    bool leader_gone;   /* it is a zombie or reaped */
    int output_error;   /* the errno of a stream that could not be read to its end; else 0 */
    enum bs_stream output_lost;
    int unsent;       /* the first signal, while the kernel refuses to send it; else 0 */
    int member_pidfd; /* pidfd of a live member; -1: none is polled */
    uint64_t look_at; /* when to look for members again; 0: at once */
    unsigned alive;   /* live members that the last look found */
    int lost_error;
    siginfo_t end;
    struct rusage usage;
    unsigned group_left;
    bool detached_writers;
};

#endif
