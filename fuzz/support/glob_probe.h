/* Makes paths that distinguish a glob from its likeliest misreadings: one path that the glob
 * matches, and variants of this path with one piece changed. A wildcard matches nothing or a
 * segment too many; a character that is special elsewhere is replaced or left out; text is added
 * around the whole path. An oracle decides which of the paths the glob matches. */
#ifndef BS_FUZZ_GLOB_PROBE_H
#define BS_FUZZ_GLOB_PROBE_H

#include "support/glob_case.h"
#include "support/pool.h"

enum { BS_PROBES_MOST = 32 };

/* Write the paths, all in normal form, and return their number. */
size_t bs_fuzz_probes(const char *glob, size_t len, struct bs_fuzz_pool *pool,
                      struct bs_fuzz_text probes[BS_PROBES_MOST]);

#endif
