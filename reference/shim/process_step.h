/* A step of a script: one call of the library on a handle, and its result. */
#ifndef BS_SHIM_PROCESS_STEP_H
#define BS_SHIM_PROCESS_STEP_H

#include <boxspec/process.h>
#include <pthread.h>

#include "shim/decode.h"

struct bs_script_handle {
    const char *name;
    struct bs_exec_request request;
    struct bs_stdio stdio;
    const struct bs_sandbox *sandbox; /* NULL if the program runs without a sandbox */
    /* NULL before an open and after a drop; atomic, because one thread may drop the process while
     * another waits for it */
    _Atomic(struct bs_process *) process;
    int taken[3];
    /* held during a write, because a write(2) of more than PIPE_BUF bytes is not atomic */
    pthread_mutex_t writing;
};

enum bs_step_kind {
    BS_STEP_OPEN,
    BS_STEP_STREAMS,
    BS_STEP_TAKE,
    BS_STEP_WRITE,
    BS_STEP_READ_UNTIL,
    BS_STEP_READ_EOF,
    BS_STEP_CLOSE_STDIN,
    BS_STEP_POLL,
    BS_STEP_WAIT,
    BS_STEP_TERMINATE,
    BS_STEP_KILL,
    BS_STEP_CLOSE,
    BS_STEP_DROP,
    BS_STEP_JOIN,
    BS_STEP_REPEAT,
    BS_STEP_KINDS
};

extern const char *const bs_step_names[BS_STEP_KINDS];

struct bs_script_step {
    enum bs_step_kind kind;
    struct bs_script_handle *handle; /* NULL for a join or a repeat */
    /* the thread that runs the step, or that a join waits for; NULL: the main thread */
    const char *thread;
    int stream;
    const char *data; /* the bytes to write, or the bytes that end a read */
    size_t data_len;
    const uint64_t *ms; /* limit of a wait, or grace period; NULL if it is not given */
    uint64_t count;     /* only for a repeat, like the next two fields */
    struct bs_script_step *inner;
    size_t n_inner;
    bool failed; /* the result is an error */
    struct bs_json_writer result;
};

/* Run the step. Afterwards `result` is a JSON object. */
void bs_script_step_run(struct bs_script_step *step);

void bs_put_end(struct bs_json_writer *out, const struct bs_process_end *end);

#endif
