/* Bytes of a file as a reader of texts counts them. */
#ifndef BS_FUZZ_TEXT_ORACLE_H
#define BS_FUZZ_TEXT_ORACLE_H

#include <stddef.h>

#include "support/node.h"

/* The first byte that is not UTF-8, or SIZE_MAX. */
size_t bs_fuzz_first_alien(const char *text, size_t len);

/* The place of a byte; LF, CR LF and a lone CR end a line. */
struct bs_fuzz_place bs_fuzz_place_of(const char *text, size_t at);

#endif
