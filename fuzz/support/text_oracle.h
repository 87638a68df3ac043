/* Positions in a text file, independent of the reference. */
#ifndef BS_FUZZ_TEXT_ORACLE_H
#define BS_FUZZ_TEXT_ORACLE_H

#include <stddef.h>

#include "support/node.h"

/* Return the position of the first invalid UTF-8 byte, or SIZE_MAX. */
size_t bs_fuzz_first_alien(const char *text, size_t len);

/* Return the line and column of a byte. LF, CR LF and a single CR end a line. */
struct bs_fuzz_place bs_fuzz_place_of(const char *text, size_t at);

#endif
