/* Counts the memory of the reference at the allocation functions. Targets that use this file are
 * linked with --wrap for each of these functions (fuzz/CMakeLists.txt). Allocations inside other
 * libraries are not counted. */
#ifndef BS_FUZZ_MEMORY_H
#define BS_FUZZ_MEMORY_H

#include <stddef.h>

void bs_fuzz_memory_start(void);

/* Return the number of blocks that were allocated since the start and not freed.
 * bs_fuzz_memory_taken returns the bytes that were allocated since the start. It includes freed
 * blocks, because their size is not known without a query to the allocator. */
ptrdiff_t bs_fuzz_memory_held(void);
size_t bs_fuzz_memory_taken(void);

#endif
