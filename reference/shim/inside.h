/* The sandbox that a request wants around the programs it starts. A build without backends has
 * cli/no_backends.c instead of inside.c. */
#ifndef BS_SHIM_INSIDE_H
#define BS_SHIM_INSIDE_H

#include <boxspec/exec.h>

#include "shim/decode.h"

struct bs_inside; /* NULL: the request wants no sandbox */

/* Reads the member `backend`, if there is one. The caller closes the result, also if the decoder
 * has failed. `makes_root`: the operation makes the workspace, so the context names none. */
struct bs_inside *bs_inside_decode(struct bs_decoder *decoder, const cJSON *request,
                                   bool makes_root);

/* Opens the session, unless its first request does. Returns what bs_session_open does. */
int bs_inside_open(struct bs_inside *inside, struct bs_error *err);

/* Checks that the directory of a request is one of the session; once the session is open, a request
 * without a directory gets that of the session. 0 or BS_E_INVALID. */
int bs_inside_place(const struct bs_inside *inside, struct bs_exec_request *request,
                    struct bs_error *err);

/* Runs a request in the session, or without a sandbox if there is none. Any number of threads. */
int bs_inside_run(const struct bs_inside *inside, const struct bs_exec_request *request,
                  struct bs_exec_result *result, struct bs_error *err);

/* For each request that is started otherwise; NULL without a sandbox. */
const struct bs_sandbox *bs_inside_sandbox(const struct bs_inside *inside);

/* Members of an open object: what was enforced, and why not more. None without a session. */
void bs_inside_put(const struct bs_inside *inside, struct bs_json_writer *out);

void bs_inside_close(struct bs_inside *inside);

#endif
