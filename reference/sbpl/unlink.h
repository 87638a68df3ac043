/* What may not be unlinked, because it may not be read: under another name it could be. */
#ifndef BS_SBPL_UNLINK_H
#define BS_SBPL_UNLINK_H

#include "sbpl/bodies.h"
#include "sbpl/filter.h"

/* Appends a clause for each ancestor of a read-denied rule that it names, from the top, and one for
 * what it matches, and none twice. NULL; or why there is no filter for entries[*at]. out->failed
 * where memory ran out. */
const char *bs_unlink_put(const struct bs_filters *filters, const struct bs_bodies *read,
                          struct bs_buf *out, size_t *at);

#endif
