/* The normal forms of paths and globs, by the words of the contract and segment by segment: what
 * the reference's scans, which look at sixteen bytes at a time, are compared with. */
#ifndef BS_FUZZ_PATH_MODEL_H
#define BS_FUZZ_PATH_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* NULL, and the normal form in `out`, which has room for len + 1 bytes, with its length; or why
 * the contract refuses it, in a word. */
const char *bs_model_path(const char *path, size_t len, char *out, size_t *out_len);
const char *bs_model_glob(const char *glob, size_t len, char *out, size_t *out_len);

/* By the code points that the bytes stand for. */
bool bs_model_is_utf8(const char *text, size_t len);

#endif
