/* The copy of the output that `debug` writes to the caller's stderr: with secrets replaced, and
 * without delaying the run. */
#ifndef BS_EXEC_TEE_H
#define BS_EXEC_TEE_H

#include <stdbool.h>

#include <boxspec/exec.h>

#include "exec/redact.h"

struct bs_tee {
    int fd;         /* the copy goes there; -1 once its reader has closed it */
    bool owned;     /* fd was opened here, non-blocking; else it is the caller's 2 */
    bool is_socket; /* written with MSG_DONTWAIT */
    bool is_file;   /* never blocks, and the shared file offset must stay in use */
    struct bs_secrets secrets;
    struct bs_redactor streams[2];
    struct bs_buf pending;
    uint64_t dropped; /* bytes that were not shown since the last note about it */
};

/* Returns 0 or ENOMEM. If the caller has no stderr, all calls do nothing. The struct must not move
 * afterwards. */
int bs_tee_init(struct bs_tee *tee, const struct bs_env_pair *env, size_t n_env);

void bs_tee_write(struct bs_tee *tee, enum bs_stream stream, const char *data, size_t len);
void bs_tee_end(struct bs_tee *tee, enum bs_stream stream);

/* The descriptor to poll for writing, or -1. */
int bs_tee_fd(const struct bs_tee *tee);

/* Write as much as the descriptor takes without blocking. */
void bs_tee_flush(struct bs_tee *tee);

/* Flush for at most BS_EXEC_TEE_MS, then free everything. */
void bs_tee_finish(struct bs_tee *tee);

#endif
