/* Whether a glob matches a path, written from the words of the contract and not from the matcher:
 * a set of positions in the path is carried through the glob, where the matcher carries a set of
 * positions in the glob through the path. */
#ifndef BS_FUZZ_GLOB_ORACLE_H
#define BS_FUZZ_GLOB_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#define BS_ORACLE_LONGEST_PATH 131072 /* bytes; a longer one ends the process */

/* Both in normal form. Takes time in proportion to glob x path and allocates nothing. */
bool bs_oracle_glob_matches(const char *glob, size_t glob_len, const char *path, size_t len);

#endif
