/* The sandbox that a request wants around the programs it starts. A build without backends has
 * cli/no_backends.c instead of inside.c. */
#ifndef BS_SHIM_INSIDE_H
#define BS_SHIM_INSIDE_H

#include <boxspec/exec.h>

#include "shim/decode.h"

struct bs_inside; /* NULL: the request wants no sandbox */

/* Reads the member `backend`, if there is one. The caller closes the result, also if the decoder
 * has failed. `makes_root`: the operation makes the workspace, so the context has no root. */
struct bs_inside *bs_inside_decode(struct bs_decoder *decoder, const cJSON *request,
                                   bool makes_root);

/* Opens the session, unless its first request does. Returns the code of bs_session_open. */
int bs_inside_open(struct bs_inside *inside, struct bs_error *err);

/* Checks that the directory of a request is in the session; once the session is open, a request
 * without a directory gets the session's. 0 or BS_E_INVALID. */
int bs_inside_place(const struct bs_inside *inside, struct bs_exec_request *request,
                    struct bs_error *err);

/* Runs a request in the session, or unsandboxed without a session. Any number of threads. */
int bs_inside_run(const struct bs_inside *inside, const struct bs_exec_request *request,
                  struct bs_exec_result *result, struct bs_error *err);

/* The sandbox for requests that bs_process_open, bs_process_bridge or bs_module_execute starts;
 * NULL if there is none. */
const struct bs_sandbox *bs_inside_sandbox(const struct bs_inside *inside);

/* The members enforcement and enforcement_reasons, if there was a session. */
void bs_inside_put(const struct bs_inside *inside, struct bs_json_writer *out);

void bs_inside_close(struct bs_inside *inside);

#endif
