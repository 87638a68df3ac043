/* Parts that many answers have: the outer object, errors, and the result of a run. */
#ifndef BS_SHIM_ANSWER_H
#define BS_SHIM_ANSWER_H

#include <boxspec/exec.h>

#include "base/json.h"
#include "shim/decode.h"

/* The kind of an answer. It decides the exit status in run mode. */
enum bs_answer { BS_ANSWERED, BS_INVALID_INPUT };

/* Write {"id": ..., "KEY": . The caller writes the value and then calls bs_answer_close. `id` may
 * be NULL. */
void bs_answer_open(struct bs_json_writer *out, const cJSON *id, const char *key);
void bs_answer_close(struct bs_json_writer *out);

/* Write a string of the request unchanged, or null if there is none. */
void bs_put_given(struct bs_json_writer *out, const cJSON *item);

/* Write the name of a signal, such as "SIGTERM", or null for 0. */
void bs_put_signal(struct bs_json_writer *out, int signo);

/* Write the members "kind" and "message" for an error of the library. */
void bs_put_message(struct bs_json_writer *out, int code, const char *message);

/* Write the member "error", an object with the kind and the message of an error of the library. */
void bs_put_error(struct bs_json_writer *out, int code, const char *message);

/* Write the members of the result of a run into an object that the caller opens and closes. */
void bs_put_result(struct bs_json_writer *out, struct bs_exec_result *result);

/* Write the whole answer to a request that could not be decoded: invalid_input with all
 * problems. */
enum bs_answer bs_answer_problems(struct bs_json_writer *out, const cJSON *id,
                                  const struct bs_decoder *decoder);

/* Write the whole answer to a request that the library refused or could not carry out. */
enum bs_answer bs_answer_error(struct bs_json_writer *out, const cJSON *id, int code,
                               const char *message);

#endif
