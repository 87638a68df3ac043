/* Reads one output stream of the child to its end. The bytes are stored, or passed to the caller at
 * once, up to a cap. */
#ifndef BS_EXEC_DRAIN_H
#define BS_EXEC_DRAIN_H

#include <boxspec/exec.h>

#include "base/buf.h"

struct bs_drain {
    int fd; /* -1 once it has ended */
    enum bs_stream stream;
    uint64_t most;  /* the cap: how many bytes are stored or passed on */
    uint64_t taken; /* bytes stored or passed on so far */
    struct bs_buf kept;
    bool over;  /* at least one byte beyond `most` was dropped */
    bool grown; /* the pipe was enlarged */
};

/* Further receivers of the bytes: the request's on_output (may be NULL), and the copy for `debug`
 * (NULL without `debug`). */
struct bs_receivers {
    const struct bs_exec_request *request;
    struct bs_tee *tee;
};

/* Initialise the drain, which owns fd from then on. */
void bs_drain_init(struct bs_drain *drain, int fd, enum bs_stream stream, uint64_t most);

/* Read once. At the end of the stream fd is closed. Returns 0, or an errno (ENOMEM included); fd is
 * closed after an error too. */
int bs_drain_read(struct bs_drain *drain, const struct bs_receivers *receivers);

/* Read the bytes that are available now. The function stops after the size of the largest pipe,
 * because a fast writer could keep the pipe full for ever. Returns as bs_drain_read does. */
int bs_drain_rest(struct bs_drain *drain, const struct bs_receivers *receivers);

/* Drop an incomplete character at the end of a stream that was cut at the cap. */
void bs_drain_finish(struct bs_drain *drain);

void bs_drain_clear(struct bs_drain *drain);

#endif
