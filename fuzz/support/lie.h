/* The self-test of the oracles: answers of the reference, falsified on purpose.
 *
 * With BOXSPEC_FUZZ_LIE=K in the environment each oracle is lied to for one input in 2^K, chosen by
 * a hash of the input and the oracle's name; with K:ORACLE that oracle alone. A target falsifies
 * its own copy of the answer, in such a way that the oracle must fire:
 *
 *     if ((matched != bs_fuzz_lie("model")) != expected)
 *         bs_fuzz_fail("model", ...);
 *
 * An oracle that stays silent under its lie checks nothing. The reference knows nothing of this.
 */
#ifndef BS_FUZZ_LIE_H
#define BS_FUZZ_LIE_H

#include <stdbool.h>

/* Whether the answer that `oracle` is about to judge is to be falsified, for the input that was
 * begun (support/case.h). */
bool bs_fuzz_lie(const char *oracle);

#endif
