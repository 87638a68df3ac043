/* The outside of a launch, in three files: outside.c supervises, start.c makes the child, streams.c
 * has pipes and what is passed on through them. */
#ifndef BS_BACKEND_LAUNCH_LAUNCHER_H
#define BS_BACKEND_LAUNCH_LAUNCHER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/launch/launch.h"

struct launcher {
    const struct plan *plan;
    struct program *program;
    pid_t self;
    pid_t child;
    bool namespaces;
    bool going; /* what ends is the program, not the way to it */
    bool tells; /* the caller waits for the start: its report is a socket */
    bool ended;
    int wait_status; /* of the program */
    int signals;
    int status; /* of bubblewrap: what the inside says; our end */
    int told;   /* of bubblewrap: what the inside is told; our end */
    int said;   /* what bubblewrap has to say; our end */
    int caller; /* the pipe of the report: an error once the caller has gone */
    struct handover streams;
    int pump_in; /* a file or a pipe that is passed on as a pipe of our own; -1: no more of it */
    int pump_out;
    bool pump_pipes; /* pump_in is a pipe */
    bool pump_full;  /* that pipe gave nothing: perhaps the other has no room */
    size_t pumped;
    size_t filled;
    char pump[16 * 1024];
    char words[200]; /* the last that bubblewrap said */
    uint64_t until;  /* when the grace is over */
    uint64_t strays; /* when those who left the group have no more time */
    bool has_failed;
    struct bs_launch_failure failure;
};

/* A pipe above the numbers that pid 1 finds its own at. False: errno says why. */
bool make_pipe(int *read_end, int *write_end);

/* Whether 0 to 2 are what a program inside may have. A regular file as 0 becomes a pipe, and so
 * does a pipe that others may read: own says that nobody does. */
bool check_stdio(struct launcher *launcher, bool own, struct bs_launch_failure *failure);

/* What to poll both ends for; a descriptor of -1 stands for nothing. */
struct pollfd pump_reads(const struct launcher *launcher);
struct pollfd pump_writes(const struct launcher *launcher);

/* One step of passing it on, after a poll of the two. */
void pump(struct launcher *launcher, short reads, short writes);

/* Starts what becomes bubblewrap, which waits for let_go, or the program. Whoever asks before that
 * that it ends, ends it before it is; *asked is true where that came since. False: it is not there,
 * and the failure says why. */
bool start(struct launcher *launcher, bool *asked);

/* The program may be started: pid 1 of the namespaces loses no signal any more. */
void let_go(struct launcher *launcher);

#endif
