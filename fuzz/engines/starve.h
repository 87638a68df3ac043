/* Reaches the branches of the reference that only run after a failed allocation, by making
 * allocations fail. In builds for coverage, the reference's calls to malloc, calloc and realloc are
 * compiled as calls to functions of starve.c, and the linker redirects its arena calls there.
 *
 * If the corpus reaches a branch only through a failed allocation, this is not a gap of the corpus,
 * and the branch is counted separately (ci/stages/fuzz-coverage). Such a run judges no answers. */
#ifndef BS_FUZZ_STARVE_H
#define BS_FUZZ_STARVE_H

#include <stddef.h>
#include <stdint.h>

void *bs_starved_malloc(size_t size);
void *bs_starved_calloc(size_t n, size_t size);
void *bs_starved_realloc(void *block, size_t size);

/* Run the target on the input several times. Another allocation fails in each run. */
void bs_fuzz_starve(const uint8_t *data, size_t size);

#endif
