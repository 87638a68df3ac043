/* The normal forms of paths and globs, written from the contract, segment by segment. The
 * reference, which scans sixteen bytes at a time, is compared with this model. */
#ifndef BS_FUZZ_PATH_MODEL_H
#define BS_FUZZ_PATH_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* Write the normal form to `out`, which has room for len + 1 bytes, and return NULL; or return a
 * word for why the contract refuses the text. */
const char *bs_model_path(const char *path, size_t len, char *out, size_t *out_len);
const char *bs_model_glob(const char *glob, size_t len, char *out, size_t *out_len);

/* Decode the bytes to code points to decide. */
bool bs_model_is_utf8(const char *text, size_t len);

#endif
