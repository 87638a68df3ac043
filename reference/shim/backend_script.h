/* A backend that succeeds or fails as the request says. It confines nothing. With it, sessions can
 * be tested on any host. */
#ifndef BS_SHIM_BACKEND_SCRIPT_H
#define BS_SHIM_BACKEND_SCRIPT_H

#include <boxspec/backend.h>

#include "shim/decode.h"

struct bs_scripted_backend {
    struct bs_backend backend; /* its ctx is this struct, which must not move */
    const char *probe;
    const char *prepare;
    const char *wrap;
    const char *shutdown;
    const char *place; /* a directory that prepare makes, or NULL */
    const char *const *prefix;
    size_t n_prefix;
    const struct bs_env_pair *env;
    size_t n_env;
};

/* Decode a script. Its texts belong to the decoder. */
void bs_decode_script(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                      struct bs_scripted_backend *script);

#endif
