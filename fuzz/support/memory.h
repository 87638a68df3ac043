/* Count the reference's memory at the allocation functions: targets that use this file are linked
 * with --wrap for each of them (fuzz/CMakeLists.txt). Allocations inside other libraries are not
 * counted. */
#ifndef BS_FUZZ_MEMORY_H
#define BS_FUZZ_MEMORY_H

#include <stddef.h>

void bs_fuzz_memory_start(void);

/* Blocks allocated since the start and not freed; bytes allocated since the start, including freed
 * ones, because the size of a freed block is not known without a query to the allocator. */
ptrdiff_t bs_fuzz_memory_held(void);
size_t bs_fuzz_memory_taken(void);

#endif
