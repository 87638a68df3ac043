/* Denies of unlinking: a path that may not be read could be read under another name. */
#ifndef BS_SBPL_UNLINK_H
#define BS_SBPL_UNLINK_H

#include "sbpl/bodies.h"
#include "sbpl/filter.h"

/* Appends a clause for each ancestor that a read-denied rule names, from the top, and a clause for
 * the paths that it matches, each clause once. Returns NULL, or why entries[*at] has no filter.
 * out->failed is true if memory ran out. */
const char *bs_unlink_put(const struct bs_filters *filters, const struct bs_bodies *read,
                          struct bs_buf *out, size_t *at);

#endif
