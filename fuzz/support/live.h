/* A live process, with a model of its state that does not depend on the reference. Each step is
 * checked by laws that hold for every order of steps. If a law is broken, bs_fuzz_fail names it. */
#ifndef BS_FUZZ_LIVE_H
#define BS_FUZZ_LIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <boxspec/process.h>

#include "support/opening.h"

enum { BS_FUZZ_LIVE_BYTES = 512 /* most bytes of one write */ };

struct bs_fuzz_live {
    struct bs_process *process;
    pid_t pid;
    int in; /* stdin, if it was taken from the process; otherwise -1 */
    size_t written;
    size_t read;
    bool closed;   /* stdin of the process is closed */
    bool signaled; /* a signal was sent, so output that was not echoed before may be lost */
    bool ended;    /* the end of the process was reported */
    bool stolen;   /* another part of this program reaped the process */
    /* an open writing end of the process's stdout, outside the group; otherwise -1 */
    int held;
    bool detached; /* a close must report that writers outside the group remain */
    bool has_members;
    struct bs_process_end end;
    pthread_t beside;
    bool has_beside;
};

#define BS_FUZZ_LIVE_INIT                                                                          \
    { .in = -1, .held = -1 }

/* Open the process. If it cannot be opened, check the error; `process` stays NULL. */
void bs_fuzz_live_open(struct bs_fuzz_live *model, struct bs_opening *opening);

/* Write up to `bytes`, as far as the pipe has room. This and all functions below need an open
 * process. */
void bs_fuzz_live_write(struct bs_fuzz_live *model, size_t bytes);
/* Read all output of the bytes that were written so far, and check the output. */
void bs_fuzz_live_read(struct bs_fuzz_live *model);
void bs_fuzz_live_close_stdin(struct bs_fuzz_live *model);
void bs_fuzz_live_take(struct bs_fuzz_live *model);
/* Wait up to *ms milliseconds. If `ms` is NULL, wait until the process ends; return at once if it
 * cannot end. */
void bs_fuzz_live_wait(struct bs_fuzz_live *model, const uint64_t *ms);
/* Wait in another thread, which a drop joins. */
void bs_fuzz_live_wait_beside(struct bs_fuzz_live *model);
void bs_fuzz_live_send(struct bs_fuzz_live *model, int signo);
void bs_fuzz_live_close(struct bs_fuzz_live *model, uint64_t grace_ms);
void bs_fuzz_live_drop(struct bs_fuzz_live *model);
/* Let a descriptor outside the group hold the child's stdout open. */
void bs_fuzz_live_hold(struct bs_fuzz_live *model);
/* Reap the process outside the library. */
void bs_fuzz_live_steal(struct bs_fuzz_live *model);

#endif
