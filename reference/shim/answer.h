/* The parts that answers have in common: the envelope, errors, and the result of a run. */
#ifndef BS_SHIM_ANSWER_H
#define BS_SHIM_ANSWER_H

#include <boxspec/exec.h>

#include "base/json.h"
#include "shim/decode.h"

/* Decides the exit status in run mode. */
enum bs_answer { BS_ANSWERED, BS_INVALID_INPUT };

/* {"id": ..., "KEY": ; the caller writes the value and then calls bs_answer_close. `id` may be
 * NULL. */
void bs_answer_open(struct bs_json_writer *out, const cJSON *id, const char *key);
void bs_answer_close(struct bs_json_writer *out);

/* A string of the request as it was given, or null. */
void bs_put_given(struct bs_json_writer *out, const cJSON *item);

/* "SIGTERM", or null for 0. */
void bs_put_signal(struct bs_json_writer *out, int signo);

/* The members "kind" and "message" of a library error. */
void bs_put_message(struct bs_json_writer *out, int code, const char *message);

/* The member "error": an object with the kind and the message of a library error. */
void bs_put_error(struct bs_json_writer *out, int code, const char *message);

/* The members of the result of a run, for an object that the caller opens and closes. */
void bs_put_result(struct bs_json_writer *out, struct bs_exec_result *result);

/* The whole answer to a request that could not be decoded: invalid_input with all problems. */
enum bs_answer bs_answer_problems(struct bs_json_writer *out, const cJSON *id,
                                  const struct bs_decoder *decoder);

/* The whole answer to a request that the library refused or could not carry out. */
enum bs_answer bs_answer_error(struct bs_json_writer *out, const cJSON *id, int code,
                               const char *message);

#endif
