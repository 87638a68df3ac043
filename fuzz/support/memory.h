/* Memory of the reference, counted at the functions that give it: targets that link this file are
 * linked with --wrap for each of them (fuzz/CMakeLists.txt). What the libraries take for themselves
 * is not counted. */
#ifndef BS_FUZZ_MEMORY_H
#define BS_FUZZ_MEMORY_H

#include <stddef.h>

void bs_fuzz_memory_start(void);

/* Blocks taken and not given back since then, and bytes taken, those given back among them: how
 * large a block is that is given back, the allocator would have to be asked for each time. */
ptrdiff_t bs_fuzz_memory_held(void);
size_t bs_fuzz_memory_taken(void);

#endif
