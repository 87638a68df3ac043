/* Globs as regular expressions. */
#ifndef BS_SBPL_REGEX_H
#define BS_SBPL_REGEX_H

#include "sbpl/filter.h"

/* Appends the expression of a body: only the part between the root with its slash and the `$`.
 * False if the string, which began at `start`, would be too long, or if memory ran out, and then
 * out->failed is true. */
bool bs_regex_put(const struct bs_filters *filters, const struct bs_body *body, bool deny,
                  size_t start, struct bs_buf *out);

#endif
