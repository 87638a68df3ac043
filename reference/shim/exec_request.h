/* Decodes the request for one program, which exec, process and backend have in common. */
#ifndef BS_SHIM_EXEC_REQUEST_H
#define BS_SHIM_EXEC_REQUEST_H

#include <boxspec/exec.h>

#include "shim/decode.h"

/* Fills *request, which borrows from the decoder. `pointer` points to `object`. */
void bs_decode_request(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                       struct bs_exec_request *request);

/* The same for one request of several. Its problems are noted in `decoder`, which has the one
 * answer; its blocks and its NUL stay in `own`. */
void bs_decode_own_request(struct bs_decoder *decoder, struct bs_decoder *own, const cJSON *object,
                           const char *pointer, struct bs_exec_request *request);

void bs_decode_env(struct bs_decoder *decoder, const cJSON *item, const char *pointer,
                   struct bs_exec_request *request);

/* A C string would end at a NUL, so the library never sees it: the failed spawn is made here.
 * Returns 0, or BS_E_EXECUTION if a string of the command has a NUL. */
int bs_check_nul(const struct bs_decoder *decoder, const struct bs_exec_request *request,
                 struct bs_error *err);

#endif
