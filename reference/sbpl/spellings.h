/* All spellings of one cluster. */
#ifndef BS_SBPL_SPELLINGS_H
#define BS_SBPL_SPELLINGS_H

#include "sbpl/unfold.h"

/* Like bs_unfold_put, for text that is one cluster. */
bool bs_spellings_put(const struct bs_unfold *unfold, const char *cluster, size_t len, size_t most,
                      struct bs_buf *out);

/* The canonical decomposition of a code point into at most BS_UNFOLD_KEY parts. */
size_t bs_unfold_decompose(uint32_t point, uint32_t *parts);

/* Parts of spellings of one text are the same, in this form; the others must not be. It is looser
 * than folding: a composed character may fold otherwise than its parts do. */
uint32_t bs_unfold_loose(uint32_t part);

#endif
