/* The form in which `case: fold` compares: NFC(fold(NFC(x))), fold being CaseFolding.txt, statuses
 * C and S (simple: one code point for one). A file system that folds compares names like that, and
 * a deny has to hold for every spelling that opens the file. */
#ifndef BS_POLICY_PATH_FOLD_H
#define BS_POLICY_PATH_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts up to this many bytes are folded without memory from the heap. */
#define BS_FOLD_STACK_BYTES 4096

/* At worst four bytes (U+1D160) decompose into twelve. */
#define BS_FOLD_ROOM(len) ((len)*3 + 1)

/* `text` is valid UTF-8. `out` has room for BS_FOLD_ROOM(len) bytes; no NUL is added. False only
 * when memory ran out, which needs a text of more than BS_FOLD_STACK_BYTES. */
bool bs_fold(const char *text, size_t len, char *out, size_t *out_len);

uint32_t bs_fold_simple(uint32_t point);

#endif
