/* A live process with a model of its state that does not depend on the reference. Each step is
 * checked by laws that hold for every order of steps; bs_fuzz_fail names the law that was broken.
 */
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
    int in; /* stdin taken from the process; else -1 */
    size_t written;
    size_t read;
    bool closed;   /* its stdin is closed */
    bool signaled; /* a signal was sent: output not echoed before it may be lost */
    bool ended;    /* its end was reported */
    bool stolen;   /* another part of this program reaped it */
    int held;      /* an open writing end of its stdout, outside the group; else -1 */
    bool detached; /* a close must report that writers outside the group remain */
    bool has_members;
    struct bs_process_end end;
    pthread_t beside;
    bool has_beside;
};

#define BS_FUZZ_LIVE_INIT                                                                          \
    { .in = -1, .held = -1 }

/* Open the process if it can be opened; otherwise check the error, and `process` stays NULL. */
void bs_fuzz_live_open(struct bs_fuzz_live *model, struct bs_opening *opening);

/* All functions below need an open process. Write up to `bytes`, as far as the pipe has room. */
void bs_fuzz_live_write(struct bs_fuzz_live *model, size_t bytes);
/* Read all output of what was written so far, and check it. */
void bs_fuzz_live_read(struct bs_fuzz_live *model);
void bs_fuzz_live_close_stdin(struct bs_fuzz_live *model);
void bs_fuzz_live_take(struct bs_fuzz_live *model);
/* Wait up to *ms milliseconds. If `ms` is NULL, wait until the process ends, unless it cannot end.
 */
void bs_fuzz_live_wait(struct bs_fuzz_live *model, const uint64_t *ms);
/* Wait in another thread; a drop joins it. */
void bs_fuzz_live_wait_beside(struct bs_fuzz_live *model);
void bs_fuzz_live_send(struct bs_fuzz_live *model, int signo);
void bs_fuzz_live_close(struct bs_fuzz_live *model, uint64_t grace_ms);
void bs_fuzz_live_drop(struct bs_fuzz_live *model);
/* Let a descriptor outside the group hold the child's stdout open. */
void bs_fuzz_live_hold(struct bs_fuzz_live *model);
/* Reap the process outside the library. */
void bs_fuzz_live_steal(struct bs_fuzz_live *model);

#endif
