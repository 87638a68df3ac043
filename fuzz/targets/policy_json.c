/* Arbitrary bytes as a policy in JSON, compared with a second reader and a judge of the
 * contract. */
#include "support/raw_case.h"

const char bs_fuzz_target[] = "policy_json";

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    bs_fuzz_describe_raw(c, data, size, BS_POLICY_JSON);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bs_fuzz_begin(data, size);
    bs_fuzz_judge_raw(data, size, BS_POLICY_JSON);
    return 0;
}
