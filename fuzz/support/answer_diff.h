/* Compares two answers of the shim protocol: every member that the contract fixes, without the
 * texts for people. */
#ifndef BS_FUZZ_ANSWER_DIFF_H
#define BS_FUZZ_ANSWER_DIFF_H

#include <stdbool.h>

#include "support/node.h"

/* True if the answers differ. Then *where is the name of the differing member; the name is static
 * or a part of the trees. The answers count as equal if `theirs` is `unsupported` and has the same
 * id. Pass NULL for `theirs` if the answer was not JSON. */
bool bs_fuzz_answers_differ(const struct bs_fuzz_node *ours, const struct bs_fuzz_node *theirs,
                            const char **where);

#endif
