/* The sandbox that a request asks for around what it starts. */
#ifndef BS_SHIM_INSIDE_H
#define BS_SHIM_INSIDE_H

#include <boxspec/exec.h>

#include "shim/decode.h"

struct bs_inside; /* NULL: no sandbox is asked for */

/* The member `backend`, if there is one. The caller's, for bs_inside_close, also where the decoder
 * has failed. `own_root`: the context names no directories, since the operation makes one. */
struct bs_inside *bs_inside_decode(struct bs_decoder *decoder, const cJSON *request, bool own_root);

/* Opens the session, unless the first request does (own_root). 0, or what bs_session_open says. */
int bs_inside_open(struct bs_inside *inside, struct bs_error *err);

/* A directory of a request must be the session's, and stands for it where the request has none. 0
 * or BS_E_INVALID. Before it is opened; once more behind it for the directory. */
int bs_inside_place(const struct bs_inside *inside, struct bs_exec_request *request,
                    struct bs_error *err);

/* To be handed over with each request; NULL without a sandbox. */
const struct bs_sandbox *bs_inside_sandbox(const struct bs_inside *inside);

/* Members of an open object: what was enforced, and why not more. Nothing without a session. */
void bs_inside_put(const struct bs_inside *inside, struct bs_json_writer *out);

void bs_inside_close(struct bs_inside *inside);

#endif
