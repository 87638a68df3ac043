/* The oracle `problems` of the targets that decode requests. It checks the reasons that a refusal
 * reports. */
#ifndef BS_FUZZ_PROBLEMS_H
#define BS_FUZZ_PROBLEMS_H

#include "shim/decode.h"
#include "support/pool.h"

/* Check the problems of a decoder that has refused a request. They must be JSON, each with a
 * message and a pointer to `below` ("" is the whole message) or to a part of it. */
void bs_fuzz_check_problems(const struct bs_decoder *decoder, const char *below,
                            struct bs_fuzz_pool *pool);

#endif
