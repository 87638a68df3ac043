/* Any bytes as one policy file: what the targets of the two formats have in common. */
#ifndef BS_FUZZ_RAW_CASE_H
#define BS_FUZZ_RAW_CASE_H

#include "support/load_case.h"

/* Fails by the oracles of support/load_case.h, and by these:
 *
 *     again   the same text, loaded again, is another policy or has other problems
 *     memory  more is taken than the size of the text allows
 *     leak    something is not given back
 */
void bs_fuzz_judge_raw(const uint8_t *data, size_t size, enum bs_policy_format format);

void bs_fuzz_describe_raw(struct bs_fuzz_case *c, const uint8_t *data, size_t size,
                          enum bs_policy_format format);

#endif
