/* Tests the oracles themselves: answers of the reference are falsified on purpose.
 *
 * With BOXSPEC_FUZZ_LIE=K in the environment, each oracle gets a false answer for one input in 2^K,
 * chosen by a hash of the input and the oracle's name; with K:ORACLE only that oracle gets false
 * answers. A target falsifies its own copy of the answer, so that the oracle must fire:
 *
 *     if ((matched != bs_fuzz_lie("model")) != expected)
 *         bs_fuzz_fail("model", ...);
 *
 * An oracle that accepts its false answer checks nothing. The reference itself is unchanged. */
#ifndef BS_FUZZ_LIE_H
#define BS_FUZZ_LIE_H

#include <stdbool.h>

/* True if the answer that `oracle` is about to judge must be falsified for the current input
 * (support/case.h). */
bool bs_fuzz_lie(const char *oracle);

#endif
