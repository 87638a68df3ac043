/* Sends the requests of shim_diff without comparing the answers. With a shim that only echoes, this
 * measures the cost of the requests. */
#include "support/case.h"
#include "support/shim_gen.h"
#include "support/shim_process.h"

const char bs_fuzz_target[] = "asking";

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    bs_fuzz_case_open(c, "none");
    bs_fuzz_case_text(c, "bytes", (const char *)data, size);
    bs_fuzz_case_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_fuzz_shim_requests requests;
    struct bs_fuzz_lines answers;
    bs_fuzz_begin(data, size);
    bs_fuzz_shim_requests_read(&requests, data, size);
    if (requests.n == 0)
        return 0;
    struct bs_buf lines = BS_BUF_INIT;
    for (size_t i = 0; i < requests.n; i++)
        bs_fuzz_shim_request_put(&lines, &requests.items[i], i);
    (void)bs_fuzz_shim_ask(&lines, requests.n, &answers);
    bs_buf_clear(&lines);
    bs_fuzz_lines_clear(&answers);
    bs_fuzz_pool_clear(&requests.pool);
    return 0;
}
