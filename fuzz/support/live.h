/* A live process, and what is known of it without asking the reference. Each step is judged by laws
 * that hold for every order of steps; bs_fuzz_fail tells the law that was broken. */
#ifndef BS_FUZZ_LIVE_H
#define BS_FUZZ_LIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <boxspec/process.h>

#include "support/opening.h"

enum { BS_FUZZ_LIVE_BYTES = 512 /* at most in one write */ };

struct bs_fuzz_live {
    struct bs_process *process;
    pid_t pid;
    int in; /* taken; -1 else */
    size_t written;
    size_t read;
    bool closed;   /* its stdin */
    bool signaled; /* what it has not echoed by then may be lost with it */
    bool ended;    /* that was told */
    bool stolen;   /* its end is somebody else's */
    int held;      /* a writer outside of the group; -1 else */
    bool detached; /* a close was to tell so */
    bool has_members;
    struct bs_process_end end;
    pthread_t beside;
    bool has_beside;
};

#define BS_FUZZ_LIVE_INIT                                                                          \
    { .in = -1, .held = -1 }

/* What can be opened is, and what cannot is an error and no handle; process is NULL then. */
void bs_fuzz_live_open(struct bs_fuzz_live *model, struct bs_opening *opening);

/* The others want a process that is open. Up to so many bytes, as far as a pipe has room. */
void bs_fuzz_live_write(struct bs_fuzz_live *model, size_t bytes);
/* All that was written and has not come back. */
void bs_fuzz_live_read(struct bs_fuzz_live *model);
void bs_fuzz_live_close_stdin(struct bs_fuzz_live *model);
void bs_fuzz_live_take(struct bs_fuzz_live *model);
/* Up to so many milliseconds; NULL: until it ends, where it can. */
void bs_fuzz_live_wait(struct bs_fuzz_live *model, const uint64_t *ms);
/* In another thread, which a drop collects. */
void bs_fuzz_live_wait_beside(struct bs_fuzz_live *model);
void bs_fuzz_live_send(struct bs_fuzz_live *model, int signo);
void bs_fuzz_live_close(struct bs_fuzz_live *model, uint64_t grace_ms);
void bs_fuzz_live_drop(struct bs_fuzz_live *model);
/* Somebody outside of the group gets the end that the child writes to. */
void bs_fuzz_live_hold(struct bs_fuzz_live *model);
/* Somebody else collects its end. */
void bs_fuzz_live_steal(struct bs_fuzz_live *model);

#endif
