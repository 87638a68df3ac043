/* A target that does nothing, so its cost is that of the engine. The speeds of the other targets
 * are measured as ratios to it. */
#include "support/case.h"

const char bs_fuzz_target[] = "empty";

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    bs_fuzz_case_open(c, "none");
    bs_fuzz_case_text(c, "bytes", (const char *)data, size);
    bs_fuzz_case_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bs_fuzz_begin(data, size);
    return 0;
}
