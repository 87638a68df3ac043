/* Find the branches of the reference that only a failed allocation reaches, by making allocations
 * fail. In the tree for coverage the reference's calls to malloc, calloc and realloc are compiled
 * as calls to these functions, and the linker redirects its arena calls.
 *
 * A branch that the corpus reaches only through a failed allocation is not a gap of the corpus, and
 * is counted separately (ci/stages/fuzz-coverage). Such a run judges no answers.
 */
#ifndef BS_FUZZ_STARVE_H
#define BS_FUZZ_STARVE_H

#include <stddef.h>
#include <stdint.h>

void *bs_starved_malloc(size_t size);
void *bs_starved_calloc(size_t n, size_t size);
void *bs_starved_realloc(void *block, size_t size);

/* Run the target on the input several times; in each run another allocation fails. */
void bs_fuzz_starve(const uint8_t *data, size_t size);

#endif
