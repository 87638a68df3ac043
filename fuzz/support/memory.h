/* Memory of the reference, counted at the functions that give it: targets that link this file are
 * linked with --wrap for each of them (fuzz/CMakeLists.txt). What the libraries take for themselves
 * is not counted. */
#ifndef BS_FUZZ_MEMORY_H
#define BS_FUZZ_MEMORY_H

#include <stddef.h>

void bs_fuzz_memory_start(void);

/* Bytes taken and not given back since then, and the most of them at any moment. */
ptrdiff_t bs_fuzz_memory_held(void);
ptrdiff_t bs_fuzz_memory_peak(void);

#endif
