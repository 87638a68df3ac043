/* The oracle "problems" of the targets that decode: what a refusal says of its reasons. */
#ifndef BS_FUZZ_PROBLEMS_H
#define BS_FUZZ_PROBLEMS_H

#include "shim/decode.h"
#include "support/pool.h"

/* Of a decoder that has refused: its problems must be JSON, each with words and with a pointer to
 * `below` ("" is the whole message) or to what lies in it. */
void bs_fuzz_check_problems(const struct bs_decoder *decoder, const char *below,
                            struct bs_fuzz_pool *pool);

#endif
