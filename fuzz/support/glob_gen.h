/* Makes globs and paths from the bytes of an input.
 *
 * A byte is a symbol (a letter, a wildcard, a separator, a multi-byte character), so that any input
 * is a useful glob. The alphabet is small, because otherwise paths would almost never match. A path
 * is drawn in the same way, or derived from the glob: the wildcards are filled in, and then one
 * character may be inserted, removed or replaced, because matchers make mistakes near a match. */
#ifndef BS_FUZZ_GLOB_GEN_H
#define BS_FUZZ_GLOB_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/provider.h"

enum { BS_GEN_MOST_BYTES = 160, BS_GEN_MOST_PATHS = 2 };

struct bs_gen_text {
    size_t len;
    char data[BS_GEN_MOST_BYTES];
};

struct bs_gen_globs {
    struct bs_gen_text glob;
    size_t n_paths;
    struct bs_gen_text paths[BS_GEN_MOST_PATHS];
};

/* Draw symbols until one of them ends the text or the buffer is full. */
void bs_gen_symbols(struct bs_fuzz_provider *provider, struct bs_gen_text *out);

/* Derive a path that the glob matches (if the glob is in normal form), or a path that differs from
 * such a path by a single character. */
void bs_gen_path_of(struct bs_fuzz_provider *provider, const char *glob, size_t len,
                    struct bs_gen_text *out);

/* Draw one glob and one or two paths. */
void bs_gen_globs(const uint8_t *data, size_t size, struct bs_gen_globs *out);

#endif
