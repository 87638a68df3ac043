/* The inverse of folding (policy/path/fold.h): writes an expression for every spelling that folds
 * to a text. Regular expressions know neither case nor canonical equivalence, so a deny must list
 * all spellings (SBPL-FOLD-01 and -02).
 *
 * A text consists of clusters. A cluster is a piece of text that does not compose with the text
 * after it. This file splits a text into clusters; sbpl/spellings.h finds the spellings of one
 * cluster. The data is:
 *
 *   rows     for letters other than ASCII (SBPL-FOLD-02): 3,134 code points
 *   joiners  letters that are no marks but compose with the letter before them, as in Bengali
 *   ascii    results for ASCII letters, which are the most frequent; searched once for each
 *   compile */
#ifndef BS_SBPL_UNFOLD_H
#define BS_SBPL_UNFOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { BS_UNFOLD_KEY = 4, BS_UNFOLD_ASCII = 12 };

/* A code point and its key. The key consists of the parts of the code point, decomposed and
 * folded. */
struct bs_unfold_row {
    uint32_t point;
    uint32_t key[BS_UNFOLD_KEY]; /* ends with a 0 if it has fewer parts */
};

struct bs_unfold {
    const struct bs_unfold_row *rows; /* sorted by key[0] */
    size_t n_rows;
    /* A cache with the regular expression of each ASCII character. An entry is empty until it is
     * needed. */
    char ascii[128][BS_UNFOLD_ASCII];
};

/* Initialise *unfold, which need not be released. All threads share the rows. The first call of a
 * process makes the rows, which takes some milliseconds and no allocated memory. They never change
 * afterwards. */
void bs_unfold_open(struct bs_unfold *unfold);

/* Append an expression that matches every spelling of a text. The text is folded UTF-8 without
 * control characters. Returns false if the expression needs more than `most` bytes, or if memory
 * ran out; in the second case out->failed is true. */
bool bs_unfold_put(struct bs_unfold *unfold, const char *text, size_t len, size_t most,
                   struct bs_buf *out);

#endif
