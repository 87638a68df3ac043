/* Writes globs as regular expressions. */
#ifndef BS_SBPL_REGEX_H
#define BS_SBPL_REGEX_H

#include "sbpl/filter.h"

/* Append the expression of a body, without the root and slash before it and the `$` after it.
 * `start` is the start of the string in `out`. Returns false if the string would be too long, or if
 * memory ran out; in the second case out->failed is true. */
bool bs_regex_put(const struct bs_filters *filters, const struct bs_body *body, bool deny,
                  size_t start, struct bs_buf *out);

#endif
