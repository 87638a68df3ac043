/* Globs as regular expressions. */
#ifndef BS_SBPL_REGEX_H
#define BS_SBPL_REGEX_H

#include "sbpl/filter.h"

/* Appends the expression of a body without what it begins with, the root and a slash, and without
 * the `$`. False when the string, which began at `start`, would be too long; and when memory ran
 * out, which out->failed tells. */
bool bs_regex_put(const struct bs_filters *filters, const struct bs_body *body, bool deny,
                  size_t start, struct bs_buf *out);

#endif
