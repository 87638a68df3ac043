/* The inverse of folding (policy/path/fold.h): every spelling that folds to a text, as a piece of a
 * regular expression. A regular expression knows neither case nor canonical equivalence, so a deny
 * that is to hold for each spelling has to list them.
 *
 * A text falls into clusters, of which none composes with the next; the spellings of one are found
 * by trying all code points that have to do with it, and asking bs_fold whether it agrees.
 */
#ifndef BS_SBPL_UNFOLD_H
#define BS_SBPL_UNFOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { BS_UNFOLD_KEY = 4, BS_UNFOLD_ASCII = 12 };

/* A code point, and what it decomposes and folds to. */
struct bs_unfold_row {
    uint32_t point;
    uint32_t key[BS_UNFOLD_KEY]; /* 0 behind the last */
};

struct bs_unfold {
    const struct bs_unfold_row *rows; /* by key[0] */
    size_t n_rows;
    /* The expression of each ASCII character that stands alone; empty: not looked for yet. */
    char ascii[128][BS_UNFOLD_ASCII];
};

/* There is nothing to be closed: the rows are the same for all, in any number of threads. The first
 * call of a process makes them, without asking for memory, and they stay as they are until it
 * ends. */
void bs_unfold_open(struct bs_unfold *unfold);

/* Appends what matches every spelling of a text, which is UTF-8, folded and has no control
 * characters, written as the string of a regular expression. False when that would take more than
 * `most` bytes, or when there is no memory; out->failed tells which. */
bool bs_unfold_put(struct bs_unfold *unfold, const char *text, size_t len, size_t most,
                   struct bs_buf *out);

#endif
