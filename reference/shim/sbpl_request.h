/* Decodes the parts of requests that are about Seatbelt profiles. */
#ifndef BS_SHIM_SBPL_REQUEST_H
#define BS_SHIM_SBPL_REQUEST_H

#include <boxspec/sbpl.h>

#include "shim/policy_request.h"

/* Name of the profile that is made from the member `rules`. */
#define BS_RULES_PROFILE "rules"

/* Make a policy with one profile from the member `rules`, so that the rules are checked like those
 * of a file. The decoder owns the text. */
void bs_decode_rules(struct bs_decoder *decoder, const cJSON *rules, struct bs_texts *texts);

/* Translate the pointer of a problem in that policy into a pointer into the request, and write it
 * to `buf`, which has BS_POINTER_MOST bytes. Returns `buf`. */
const char *bs_rules_pointer(const char *pointer, char *buf);

/* Decode the members root, env, side_roots and provider. The texts belong to the decoder. */
void bs_decode_input(struct bs_decoder *decoder, const cJSON *request, struct bs_sbpl_input *input);

enum bs_provider bs_decode_provider(struct bs_decoder *decoder, const cJSON *request);

#endif
