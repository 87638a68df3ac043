/* Folds text for comparisons with `case: fold`. The result is NFC(fold(NFC(x))), where fold is
 * CaseFolding.txt with statuses C and S, which turn each code point into one code point. A
 * case-insensitive file system compares names in this way. A deny must hold for every spelling that
 * opens the file. */
#ifndef BS_POLICY_PATH_FOLD_H
#define BS_POLICY_PATH_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts of up to this many bytes are folded without memory from the heap. */
#define BS_FOLD_STACK_BYTES 4096

/* Size of the result. In the worst case (U+1D160) four bytes become twelve. */
#define BS_FOLD_ROOM(len) ((len)*3 + 1)

/* Fold `text`, which is valid UTF-8. `out` has room for BS_FOLD_ROOM(len) bytes; no NUL is added.
 * Returns false if memory ran out, which is possible only for a text of more than
 * BS_FOLD_STACK_BYTES. */
bool bs_fold(const char *text, size_t len, char *out, size_t *out_len);

uint32_t bs_fold_simple(uint32_t point);

#endif
