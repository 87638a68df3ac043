/* UTF-8 by the table of well-formed sequences (Unicode 15, table 3-7). */
#ifndef BS_BASE_UTF8_H
#define BS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Return the length of the longest well-formed prefix. */
size_t bs_utf8_valid_prefix(const char *data, size_t len);

/* Return the number of bytes, 0 to 3, at the end that are the beginning of an incomplete
 * character. */
size_t bs_utf8_incomplete_tail(const char *data, size_t len);

/* Return how many bytes at data[0] one U+FFFD replaces (Unicode calls them a maximal subpart).
 * data[0] must not start a well-formed sequence, and len must be at least 1. The result is at least
 * 1. */
size_t bs_utf8_maximal_subpart(const char *data, size_t len);

#endif
