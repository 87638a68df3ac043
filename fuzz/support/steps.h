/* Counts the work of the reference in basic blocks.
 *
 * The compiler inserts a call in every basic block of the files that are built for counting
 * (-fsanitize-coverage=trace-pc; fuzz/CMakeLists.txt). The reference itself has no counters,
 * because its authors would only count the loops that they expect, and the unexpected loops must be
 * found. Unlike time, the count is the same on every machine and in every run.
 *
 * Work inside library functions (memcpy, memchr) is not counted. This work is linear in their
 * input, and the code that passes the input is counted. */
#ifndef BS_FUZZ_STEPS_H
#define BS_FUZZ_STEPS_H

#include <stdint.h>

/* number of basic blocks that the calling thread has executed */
extern _Thread_local uint64_t bs_fuzz_step_count;

static inline void bs_fuzz_steps_start(void) { bs_fuzz_step_count = 0; }
static inline uint64_t bs_fuzz_steps_taken(void) { return bs_fuzz_step_count; }

#endif
