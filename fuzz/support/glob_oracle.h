/* Decides whether a glob matches a path. The oracle is written from the contract and not from the
 * matcher of the reference. It carries a set of path positions through the glob; the reference
 * carries a set of glob positions through the path. */
#ifndef BS_FUZZ_GLOB_ORACLE_H
#define BS_FUZZ_GLOB_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#define BS_ORACLE_LONGEST_PATH 131072 /* longest path in bytes; a longer one aborts the process */

/* True if the glob matches the path. Both texts must be in normal form. This takes time in
 * proportion to glob x path, and allocates no memory. */
bool bs_oracle_glob_matches(const char *glob, size_t glob_len, const char *path, size_t len);

#endif
