/* UTF-8 by the table of well-formed sequences (Unicode 15, table 3-7). */
#ifndef BS_BASE_UTF8_H
#define BS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the longest well-formed prefix of data. */
size_t bs_utf8_valid_prefix(const char *data, size_t len);

/* How many bytes at the end begin a character that is not complete yet: 0 to 3. */
size_t bs_utf8_incomplete_tail(const char *data, size_t len);

/* At data[0], which does not start a well-formed sequence: the length of the maximal subpart, that
 * is what one U+FFFD stands for. At least 1; len is at least 1. */
size_t bs_utf8_maximal_subpart(const char *data, size_t len);

#endif
