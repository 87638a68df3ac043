/* Arbitrary bytes as one policy file, for the targets of both formats. */
#ifndef BS_FUZZ_RAW_CASE_H
#define BS_FUZZ_RAW_CASE_H

#include "support/load_case.h"

/* Fail by the oracles of support/load_case.h and by these:
 *
 *     again   a second load of the same text gives another policy or other problems
 *     memory  the load allocates more than the size of the text allows
 *     leak    memory is not freed
 */
void bs_fuzz_judge_raw(const uint8_t *data, size_t size, enum bs_policy_format format);

void bs_fuzz_describe_raw(struct bs_fuzz_case *c, const uint8_t *data, size_t size,
                          enum bs_policy_format format);

#endif
