/* Paths that tell a glob from its likeliest misreadings: one that it matches, and the same with one
 * place changed at a time. A wildcard stands for nothing or for a segment too many, a character
 * that means something elsewhere is another one or left out, something stands around it all. Which
 * of them the glob matches is for an oracle to say. */
#ifndef BS_FUZZ_GLOB_PROBE_H
#define BS_FUZZ_GLOB_PROBE_H

#include "support/glob_case.h"
#include "support/pool.h"

enum { BS_PROBES_MOST = 32 };

/* Returns how many were made; all of them are in normal form. */
size_t bs_fuzz_probes(const char *glob, size_t len, struct bs_fuzz_pool *pool,
                      struct bs_fuzz_text probes[BS_PROBES_MOST]);

#endif
