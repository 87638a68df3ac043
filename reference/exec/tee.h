/* Copies the output to the caller's stderr if the request has `debug`. Secrets are replaced, and a
 * slow reader does not delay the run. */
#ifndef BS_EXEC_TEE_H
#define BS_EXEC_TEE_H

#include <stdbool.h>

#include <boxspec/exec.h>

#include "exec/redact.h"

struct bs_tee {
    int fd; /* descriptor of the copy; -1 once its reader has gone */
    /* fd was opened here and is non-blocking; otherwise it is descriptor 2 of the caller */
    bool owned;
    bool is_socket; /* write with MSG_DONTWAIT */
    /* written through descriptor 2 itself, because its file offset is shared; a file never
     * blocks */
    bool is_file;
    struct bs_secrets secrets;
    struct bs_redactor streams[2];
    struct bs_buf pending;
    /* Bytes that were dropped and not reported yet. When there is room again, the copy gets a note
     * with this number. */
    uint64_t dropped;
};

/* Returns 0 or ENOMEM. If the caller has no stderr, all functions do nothing. The struct must not
 * move after this call. */
int bs_tee_init(struct bs_tee *tee, const struct bs_env_pair *env, size_t n_env);

void bs_tee_write(struct bs_tee *tee, enum bs_stream stream, const char *data, size_t len);
void bs_tee_end(struct bs_tee *tee, enum bs_stream stream);

/* Return the descriptor to poll for writing, or -1. */
int bs_tee_fd(const struct bs_tee *tee);

/* Write as much as the descriptor takes without blocking. */
void bs_tee_flush(struct bs_tee *tee);

/* Flush for at most BS_EXEC_TEE_MS, then free everything. */
void bs_tee_finish(struct bs_tee *tee);

#endif
