/* The sandbox that a request wants for the programs it starts. A build without backends compiles
 * cli/no_backends.c instead of inside.c. */
#ifndef BS_SHIM_INSIDE_H
#define BS_SHIM_INSIDE_H

#include <boxspec/exec.h>

#include "shim/decode.h"

struct bs_inside; /* NULL: the request wants no sandbox */

/* Decode the member `backend`, if there is one. The caller closes the result, also if decoding
 * failed. With `makes_root` the operation makes the workspace itself, so the context has no
 * root. */
struct bs_inside *bs_inside_decode(struct bs_decoder *decoder, const cJSON *request,
                                   bool makes_root);

/* Open the session, unless the first request has to open it. Returns as bs_session_open does. */
int bs_inside_open(struct bs_inside *inside, struct bs_error *err);

/* Check that the directory of a request lies in the session. If the session is open and the request
 * has no directory, set it to the directory of the session. Returns 0 or BS_E_INVALID. */
int bs_inside_place(const struct bs_inside *inside, struct bs_exec_request *request,
                    struct bs_error *err);

/* Run a request in the session, or without a sandbox if there is no session. Any number of threads
 * may call it. */
int bs_inside_run(const struct bs_inside *inside, const struct bs_exec_request *request,
                  struct bs_exec_result *result, struct bs_error *err);

/* Return the sandbox for bs_process_open, bs_process_bridge or bs_module_execute, or NULL if there
 * is none. */
const struct bs_sandbox *bs_inside_sandbox(const struct bs_inside *inside);

/* Write the members enforcement and enforcement_reasons, if there was a session. */
void bs_inside_put(const struct bs_inside *inside, struct bs_json_writer *out);

void bs_inside_close(struct bs_inside *inside);

#endif
