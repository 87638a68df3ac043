#include "support/steps.h"

_Thread_local uint64_t bs_fuzz_step_count;

/* The linker's --wrap redirects the function that compilers call, because libFuzzer already defines
 * it. */
void __wrap___sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize_address)) void __wrap___sanitizer_cov_trace_pc(void) {
    bs_fuzz_step_count++;
}
