/* Two answers of the shim protocol, compared by verdict: what the contract fixes, and not a word
 * that is for people. */
#ifndef BS_FUZZ_ANSWER_DIFF_H
#define BS_FUZZ_ANSWER_DIFF_H

#include <stdbool.h>

#include "support/node.h"

/* True where they differ; *where is the name of the member that does, static or out of the trees.
 * An answer that something is not supported differs from nothing. NULL for `theirs`: it was not
 * JSON. */
bool bs_fuzz_answers_differ(const struct bs_fuzz_node *ours, const struct bs_fuzz_node *theirs,
                            const char **where);

#endif
