/* The normal forms of paths and globs, written from the contract, segment by segment. The reference
 * scans sixteen bytes at a time and is compared with this model. */
#ifndef BS_FUZZ_PATH_MODEL_H
#define BS_FUZZ_PATH_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* Write the normal form to `out`, which has room for len + 1 bytes, and return NULL. If the
 * contract refuses the text, return a word for the reason. */
const char *bs_model_path(const char *path, size_t len, char *out, size_t *out_len);
const char *bs_model_glob(const char *glob, size_t len, char *out, size_t *out_len);

/* True if the text is UTF-8. The bytes are decoded to code points. */
bool bs_model_is_utf8(const char *text, size_t len);

#endif
