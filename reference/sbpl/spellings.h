/* Finds all spellings of one cluster. The search tries every code point that has a fitting part,
 * and calls bs_fold to see whether the result folds to the cluster. Only this file handles marks
 * that may change places, the iota below a letter, and Hangul syllables (SBPL-FOLD-02). Golden
 * texts check the order of the spellings. */
#ifndef BS_SBPL_SPELLINGS_H
#define BS_SBPL_SPELLINGS_H

#include "sbpl/unfold.h"

/* As bs_unfold_put, for a text of one cluster. */
bool bs_spellings_put(const struct bs_unfold *unfold, const char *cluster, size_t len, size_t most,
                      struct bs_buf *out);

/* Write the canonical decomposition of a code point, which has at most BS_UNFOLD_KEY parts. Returns
 * their number. */
size_t bs_unfold_decompose(uint32_t point, uint32_t *parts);

/* Fold a part loosely, so that the parts of all spellings of a text become equal. Parts of
 * different texts may become equal too, because a composed character may fold differently from its
 * parts. */
uint32_t bs_unfold_loose(uint32_t part);

#endif
