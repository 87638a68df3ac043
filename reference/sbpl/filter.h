/* One rule as one filter. */
#ifndef BS_SBPL_FILTER_H
#define BS_SBPL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include <boxspec/bytes.h>

#include "base/buf.h"
#include "sbpl/bodies.h"
#include "sbpl/spell.h"
#include "sbpl/unfold.h"

/* The data that all filters of a text share. */
struct bs_filters {
    struct bs_buf literal; /* how each begins: the form, the root and a slash */
    struct bs_buf subpath;
    struct bs_buf regex;
    struct bs_bytes root;     /* a place, borrowed */
    struct bs_unfold *unfold; /* NULL: filters do not fold */
    struct bs_spelled spelled;
};

/* False when memory ran out; to be closed in both cases. */
bool bs_filters_open(struct bs_filters *filters, const struct bs_bytes *root,
                     struct bs_unfold *unfold);
void bs_filters_close(struct bs_filters *filters);

/* Appends the filter of a rule's body, which has no control characters and is folded where filters
 * fold. NULL; or why there is no filter, static and with a remedy, and then something is appended
 * that is not to be used. out->failed where memory ran out. */
const char *bs_filter_put(const struct bs_filters *filters, const struct bs_body *body, bool deny,
                          struct bs_buf *out);

/* Appends `(subpath "PLACE")`, with `below` after the place. Returns as bs_filter_put does. */
const char *bs_filter_put_place(const struct bs_bytes *place, const char *below,
                                struct bs_buf *out);

#endif
