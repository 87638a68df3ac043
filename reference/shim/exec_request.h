/* Decodes the request for one program, which is the same for exec, process and backend. */
#ifndef BS_SHIM_EXEC_REQUEST_H
#define BS_SHIM_EXEC_REQUEST_H

#include <boxspec/exec.h>

#include "shim/decode.h"

/* Fill *request. Its texts belong to the decoder. `pointer` is the JSON pointer of `object`. */
void bs_decode_request(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                       struct bs_exec_request *request);

/* As bs_decode_request, for one of several requests that get one common answer. Problems are
 * recorded in `decoder`, from which the answer is made. Decoded values and the first NUL are
 * recorded in `own`, because they concern only this request. */
void bs_decode_own_request(struct bs_decoder *decoder, struct bs_decoder *own, const cJSON *object,
                           const char *pointer, struct bs_exec_request *request);

void bs_decode_env(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                   struct bs_exec_request *request);

/* Return BS_E_EXECUTION with the error of a failed spawn if a string of the command contains a NUL,
 * otherwise 0. The library cannot notice the NUL, because a C string ends there. */
int bs_check_nul(const struct bs_decoder *decoder, const struct bs_exec_request *request,
                 struct bs_error *err);

#endif
