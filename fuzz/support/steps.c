#include "support/steps.h"

_Thread_local uint64_t bs_fuzz_step_count;

/* libFuzzer has a function of the name that compilers call, hence the linker's --wrap. */
void __wrap___sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize_address)) void __wrap___sanitizer_cov_trace_pc(void) {
    bs_fuzz_step_count++;
}
