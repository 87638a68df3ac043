/* What the operations on Seatbelt profiles read out of a request. */
#ifndef BS_SHIM_SBPL_REQUEST_H
#define BS_SHIM_SBPL_REQUEST_H

#include <boxspec/sbpl.h>

#include "shim/policy_request.h"

/* The name of the profile that `rules` become. */
#define BS_RULES_PROFILE "rules"

/* The member `rules` as a policy with one profile, so that they are judged like those of a file.
 * The text is the decoder's. */
void bs_decode_rules(struct bs_decoder *decoder, const cJSON *rules, struct bs_texts *texts);

/* Where in the request a problem of that policy lies: written to buf, which has BS_POINTER_MOST
 * bytes, and returned. */
const char *bs_rules_pointer(const char *pointer, char *buf);

/* The members root, env, side_roots and provider. Borrows from the decoder. */
void bs_decode_input(struct bs_decoder *decoder, const cJSON *request, struct bs_sbpl_input *input);

enum bs_provider bs_decode_provider(struct bs_decoder *decoder, const cJSON *request);

#endif
