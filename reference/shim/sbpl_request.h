/* Decodes the parts of requests that are about Seatbelt profiles. */
#ifndef BS_SHIM_SBPL_REQUEST_H
#define BS_SHIM_SBPL_REQUEST_H

#include <boxspec/sbpl.h>

#include "shim/policy_request.h"

/* The name of the profile that is made of `rules`. */
#define BS_RULES_PROFILE "rules"

/* Makes a policy with one profile of the member `rules`, so that they are checked like the rules of
 * a file. The decoder owns the text. */
void bs_decode_rules(struct bs_decoder *decoder, const cJSON *rules, struct bs_texts *texts);

/* Write the pointer into the request of a problem of that policy to buf, which has BS_POINTER_MOST
 * bytes; return buf. */
const char *bs_rules_pointer(const char *pointer, char *buf);

/* The members root, env, side_roots and provider. Borrows from the decoder. */
void bs_decode_input(struct bs_decoder *decoder, const cJSON *request, struct bs_sbpl_input *input);

enum bs_provider bs_decode_provider(struct bs_decoder *decoder, const cJSON *request);

#endif
