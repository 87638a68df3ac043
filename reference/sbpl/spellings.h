/* All spellings of one cluster: a search that tries every code point with a fitting part and asks
 * bs_fold whether the result folds to the cluster. It alone knows of marks that may change places,
 * of the iota below a letter, and of Hangul syllables (SBPL-FOLD-02; golden texts fix the order).
 */
#ifndef BS_SBPL_SPELLINGS_H
#define BS_SBPL_SPELLINGS_H

#include "sbpl/unfold.h"

/* As bs_unfold_put, for a text of one cluster. */
bool bs_spellings_put(const struct bs_unfold *unfold, const char *cluster, size_t len, size_t most,
                      struct bs_buf *out);

/* The canonical decomposition of a code point into at most BS_UNFOLD_KEY parts. */
size_t bs_unfold_decompose(uint32_t point, uint32_t *parts);

/* A form in which the parts of all spellings of one text are equal. Other texts may be equal, too:
 * it is looser than folding, because a composed character may fold differently from its parts. */
uint32_t bs_unfold_loose(uint32_t part);

#endif
