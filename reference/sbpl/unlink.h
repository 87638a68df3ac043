/* Clauses that deny unlinking. They exist because a program that may rename a path could move a
 * path that must not be read, and read it under the new name. */
#ifndef BS_SBPL_UNLINK_H
#define BS_SBPL_UNLINK_H

#include "sbpl/bodies.h"
#include "sbpl/filter.h"

/* Append clauses for the rules that deny reading. Each ancestor that such a rule names gets a
 * clause, from the top, and then the paths that the rule matches. Each clause is written only once.
 * Returns NULL, or the reason why entries[*at] has no filter. If memory ran out, out->failed is
 * true. */
const char *bs_unlink_put(const struct bs_filters *filters, const struct bs_bodies *read,
                          struct bs_buf *out, size_t *at);

#endif
