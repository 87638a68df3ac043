/* Globs and paths out of the bytes of an input.
 *
 * A byte is a symbol: a letter, a wildcard, a separator, a character of several bytes, so that any
 * input is a glob of some interest. Letters are few, or a path would never match. A path is drawn
 * in the same way, or derived from the glob: wildcards are filled in, and then perhaps one
 * character is put in, taken out or replaced, which is where matchers go wrong.
 */
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

/* Symbols up to the one that ends, or as many as there is room for. */
void bs_gen_symbols(struct bs_fuzz_provider *provider, struct bs_gen_text *out);

/* A path that the glob matches, as far as it is in normal form, or one a character away. */
void bs_gen_path_of(struct bs_fuzz_provider *provider, const char *glob, size_t len,
                    struct bs_gen_text *out);

/* One glob and one or two paths. */
void bs_gen_globs(const uint8_t *data, size_t size, struct bs_gen_globs *out);

#endif
