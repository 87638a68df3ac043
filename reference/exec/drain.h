/* One output stream of the child. It is always read to its end; its bytes are kept up to a cap, or
 * handed on. */
#ifndef BS_EXEC_DRAIN_H
#define BS_EXEC_DRAIN_H

#include <boxspec/exec.h>

#include "base/buf.h"

struct bs_drain {
    int fd; /* -1 once it has ended */
    enum bs_stream stream;
    uint64_t most;  /* the cap: bytes to keep or hand on */
    uint64_t taken; /* bytes kept or handed on */
    struct bs_buf kept;
    bool over;  /* a byte beyond `most` was dropped */
    bool grown; /* the pipe was enlarged */
};

/* Other receivers of the bytes besides `kept`: the request's on_output, and the tee, which may be
 * NULL. */
struct bs_outlets {
    const struct bs_exec_request *request;
    struct bs_tee *tee;
};

/* The drain owns fd from here on. */
void bs_drain_init(struct bs_drain *drain, int fd, enum bs_stream stream, uint64_t most);

/* Read once. Closes fd at the end of the stream. Returns 0, or an errno (ENOMEM included), after
 * which fd is closed too. */
int bs_drain_read(struct bs_drain *drain, const struct bs_outlets *outlets);

/* Read the bytes that are there now, but no more than the largest pipe holds, because a fast writer
 * could keep it full for ever. Returns as bs_drain_read. */
int bs_drain_rest(struct bs_drain *drain, const struct bs_outlets *outlets);

/* Drop an incomplete character at the end of a stream that was cut at the cap. */
void bs_drain_finish(struct bs_drain *drain);

void bs_drain_clear(struct bs_drain *drain);

#endif
