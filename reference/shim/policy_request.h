/* Decodes the parts of requests that are about policies. */
#ifndef BS_SHIM_POLICY_REQUEST_H
#define BS_SHIM_POLICY_REQUEST_H

#include <boxspec/profile.h>

#include "shim/decode.h"

/* The text of a policy and, optionally, of a workspace policy to merge over it. */
struct bs_texts {
    struct bs_policy_text global;
    struct bs_policy_text workspace;
    bool has_workspace;
};

/* Decode the members text or text_b64, format and workspace of `object`. `known` lists all members
 * that `object` may have. The texts belong to the decoder. */
void bs_decode_texts(struct bs_decoder *decoder, const cJSON *object, const char *pointer,
                     const char *const *known, struct bs_texts *texts);

/* Decode the member `policy`. */
void bs_decode_policy(struct bs_decoder *decoder, const cJSON *request, struct bs_texts *texts);

struct bs_check {
    const char *profile; /* NULL if the check names none */
    const char *path;
    size_t len;
    enum bs_op op;
    enum bs_follow follow;
};

struct bs_checks {
    struct bs_check *items;
    size_t n;
};

/* Decode the member `checks`. The texts belong to the decoder and to the request. */
void bs_decode_checks(struct bs_decoder *decoder, const cJSON *request, bool follows,
                      struct bs_checks *checks);

/* True if the member `case` is "fold". */
bool bs_decode_fold(struct bs_decoder *decoder, const cJSON *request);

#endif
