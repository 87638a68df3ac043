/* Plain cJSON, to compare its speed with that of policy_json. The installed library is used, so the
 * engine gets no coverage from it, and the sanitizer checks only its allocations. */
#include <cjson/cJSON.h>

#include "support/case.h"

const char bs_fuzz_target[] = "cjson";

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    bs_fuzz_case_open(c, "none");
    bs_fuzz_case_text(c, "bytes", (const char *)data, size);
    bs_fuzz_case_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bs_fuzz_begin(data, size);
    cJSON_Delete(cJSON_ParseWithLength((const char *)data, size));
    return 0;
}
