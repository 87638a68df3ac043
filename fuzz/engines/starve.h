/* Which branches of the reference stand behind a failed allocation, found out by making allocations
 * fail. In the tree for coverage the reference's calls to malloc, calloc and realloc are compiled
 * as calls to these, and those to an arena are linked to others.
 *
 * A branch that the corpus takes only when an allocation fails is no gap of the corpus, and is
 * counted apart (ci/stages/fuzz-coverage). Nothing is judged in such a run. */
#ifndef BS_FUZZ_STARVE_H
#define BS_FUZZ_STARVE_H

#include <stddef.h>
#include <stdint.h>

void *bs_starved_malloc(size_t size);
void *bs_starved_calloc(size_t n, size_t size);
void *bs_starved_realloc(void *block, size_t size);

/* Runs the input again and again; each time another allocation fails. */
void bs_fuzz_starve(const uint8_t *data, size_t size);

#endif
