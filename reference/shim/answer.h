/* How a shim answers: the envelope and the shapes that operations share. */
#ifndef BS_SHIM_ANSWER_H
#define BS_SHIM_ANSWER_H

#include <boxspec/exec.h>

#include "base/json.h"
#include "shim/decode.h"

/* What an answer was, for the exit status of run mode. */
enum bs_answer { BS_ANSWERED, BS_INVALID_INPUT };

/* {"id": ..., "KEY": ; the caller appends the value and then bs_answer_close. `id` may be NULL. */
void bs_answer_open(struct bs_buf *out, const cJSON *id, const char *key);
void bs_answer_close(struct bs_buf *out);

/* A string of the request as it was given, or null. */
void bs_put_given(struct bs_buf *out, const cJSON *item);

/* `"SIGTERM"`, or null for 0. */
void bs_put_signal(struct bs_buf *out, int signo);

void bs_put_error(struct bs_buf *out, const char *kind, const char *message, size_t message_len);
void bs_put_result(struct bs_buf *out, struct bs_exec_result *result);

/* The whole answer to a request that could not be decoded: invalid_input, with all problems. */
enum bs_answer bs_answer_problems(struct bs_buf *out, const cJSON *id,
                                  const struct bs_decoder *decoder);

/* The whole answer to a request that the library refused or could not carry out. */
enum bs_answer bs_answer_error(struct bs_buf *out, const cJSON *id, int code,
                               const struct bs_error *err);

/* The kind that a library error has in the protocol. */
const char *bs_error_kind(int code);

#endif
