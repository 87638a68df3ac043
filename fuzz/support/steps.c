#include "support/steps.h"

_Thread_local uint64_t bs_fuzz_step_count;

/* libFuzzer already defines the function that compilers call, so the linker's --wrap redirects it.
 */
void __wrap___sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize_address)) void __wrap___sanitizer_cov_trace_pc(void) {
    bs_fuzz_step_count++;
}
