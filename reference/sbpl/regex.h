/* Writes globs as regular expressions. */
#ifndef BS_SBPL_REGEX_H
#define BS_SBPL_REGEX_H

#include "sbpl/filter.h"

/* Append the expression of a body, without the root and slash before it and the `$` after it. The
 * string began at `start`. Returns false if it would be too long, or if memory ran out; then
 * out->failed is true. */
bool bs_regex_put(const struct bs_filters *filters, const struct bs_body *body, bool deny,
                  size_t start, struct bs_buf *out);

#endif
