/* UTF-8 by the table of well-formed sequences (Unicode 15, table 3-7). */
#ifndef BS_BASE_UTF8_H
#define BS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Return the length of the longest well-formed prefix. */
size_t bs_utf8_valid_prefix(const char *data, size_t len);

/* Return the number of bytes at the end that begin an incomplete character: 0 to 3. */
size_t bs_utf8_incomplete_tail(const char *data, size_t len);

/* Return the length of the maximal subpart at data[0], which starts no well-formed sequence: one
 * U+FFFD replaces that many bytes. At least 1; len must be at least 1. */
size_t bs_utf8_maximal_subpart(const char *data, size_t len);

#endif
