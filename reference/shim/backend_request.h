/* Decodes the parts of requests that are about backends. */
#ifndef BS_SHIM_BACKEND_REQUEST_H
#define BS_SHIM_BACKEND_REQUEST_H

#include <boxspec/backend.h>

#include "shim/decode.h"

/* The sandbox that a request wants. Its texts belong to the decoder. Do not move the struct,
 * because context.policy points into it. */
struct bs_wanted_sandbox {
    /* NULL if the name is unknown, which is reported as a problem */
    const struct bs_backend *backend;
    struct bs_backend_context context;
    struct bs_backend_policy policy;
    enum bs_on_unavailable on_unavailable;
};

/* Decode the members `profile`, `policy` and `egress`. */
void bs_decode_confinement(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                           struct bs_wanted_sandbox *wanted);

/* Decode the context `object` with all its members. */
void bs_decode_context(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                       struct bs_wanted_sandbox *wanted);

void bs_decode_backend_name(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                            const char *member, struct bs_wanted_sandbox *wanted);

void bs_decode_on_unavailable(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                              struct bs_wanted_sandbox *wanted);

/* Decode the member `backend` of a request that runs a program. */
void bs_decode_use(struct bs_decoder *decoder, const cJSON *object,
                   struct bs_wanted_sandbox *wanted);

/* As bs_decode_use, for an operation that makes the workspace itself: the context has neither
 * `root` nor `cwd`. */
void bs_decode_use_without_root(struct bs_decoder *decoder, const cJSON *object,
                                struct bs_wanted_sandbox *wanted);

#endif
