/* The inverse of folding (policy/path/fold.h): every spelling that folds to a text, as a piece of a
 * regular expression. A regular expression knows neither case nor canonical equivalence, so a deny
 * that holds for each spelling lists them all (SBPL-FOLD-01 and -02).
 *
 * A text consists of clusters; no cluster composes with the next one. This file splits a text into
 * clusters, and sbpl/spellings.h finds the spellings of one cluster. Each part has a user:
 *
 *   rows       the search for other letters than ASCII (SBPL-FOLD-02). 3,134 code points
 *   joiners    letters that are no marks but compose with the letter before them, as in Bengali
 *   ascii      ASCII letters, by far the most, are searched once for each compile
 */
#ifndef BS_SBPL_UNFOLD_H
#define BS_SBPL_UNFOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { BS_UNFOLD_KEY = 4, BS_UNFOLD_ASCII = 12 };

/* A code point and its key: its parts, decomposed and folded. */
struct bs_unfold_row {
    uint32_t point;
    uint32_t key[BS_UNFOLD_KEY]; /* ends with a 0 if it is shorter */
};

struct bs_unfold {
    const struct bs_unfold_row *rows; /* by key[0] */
    size_t n_rows;
    /* The expression of each ASCII character that is a cluster; empty: not searched yet. */
    char ascii[128][BS_UNFOLD_ASCII];
};

/* Initialises *unfold; no call releases it. All threads share the rows. The first call of a process
 * makes them in some milliseconds, without allocating, and they never change. */
void bs_unfold_open(struct bs_unfold *unfold);

/* Appends an expression that matches every spelling of a text. The text is folded UTF-8 without
 * control characters. False if the expression takes more than `most` bytes, or if memory ran out,
 * and then out->failed is true. */
bool bs_unfold_put(struct bs_unfold *unfold, const char *text, size_t len, size_t most,
                   struct bs_buf *out);

#endif
