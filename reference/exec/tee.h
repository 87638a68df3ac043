/* The copy of the output that `debug` writes to the caller's stderr: redacted, and never in the
 * way. */
#ifndef BS_EXEC_TEE_H
#define BS_EXEC_TEE_H

#include <stdbool.h>

#include <boxspec/exec.h>

#include "exec/redact.h"

struct bs_tee {
    int fd;         /* what is written to; -1 once the reader is gone */
    bool owned;     /* fd is ours, non-blocking; else the caller's descriptor 2 */
    bool is_socket; /* written with MSG_DONTWAIT */
    bool is_file;   /* never blocks and must keep the shared offset */
    struct bs_secrets secrets;
    struct bs_redactor streams[2];
    struct bs_buf pending;
    uint64_t dropped; /* bytes since the last note */
};

/* 0 or ENOMEM. Without a stderr in the caller everything becomes a no-op. The struct must not move
 * afterwards. */
int bs_tee_init(struct bs_tee *tee, const struct bs_env_pair *env, size_t n_env);

void bs_tee_write(struct bs_tee *tee, enum bs_stream stream, const char *data, size_t len);
void bs_tee_end(struct bs_tee *tee, enum bs_stream stream);

/* To be polled for writing while it is not -1. */
int bs_tee_fd(const struct bs_tee *tee);

/* Writes what the terminal takes without waiting. */
void bs_tee_flush(struct bs_tee *tee);

/* Flushes for at most BS_EXEC_TEE_MS, then frees everything. */
void bs_tee_finish(struct bs_tee *tee);

#endif
