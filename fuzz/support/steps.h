/* Work, counted in basic blocks of the reference.
 *
 * The compiler calls back at every basic block of the files that are built for counting
 * (-fsanitize-coverage=trace-pc; fuzz/CMakeLists.txt). No counter stands in the reference itself:
 * one that its authors place counts the loops they thought of, and the loop to be found is another.
 * Unlike time the count is the same on every machine and in every run.
 *
 * What is not counted is what library functions do (memcpy, memchr): each is linear in what it is
 * given, and giving it is counted.
 */
#ifndef BS_FUZZ_STEPS_H
#define BS_FUZZ_STEPS_H

#include <stdint.h>

/* Of the calling thread. */
extern _Thread_local uint64_t bs_fuzz_step_count;

static inline void bs_fuzz_steps_start(void) { bs_fuzz_step_count = 0; }
static inline uint64_t bs_fuzz_steps_taken(void) { return bs_fuzz_step_count; }

#endif
