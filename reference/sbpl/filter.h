/* Writes a rule as a filter of a clause. */
#ifndef BS_SBPL_FILTER_H
#define BS_SBPL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include <boxspec/bytes.h>

#include "base/buf.h"
#include "sbpl/bodies.h"
#include "sbpl/spell.h"
#include "sbpl/unfold.h"

/* Data that all filters of a text share. */
struct bs_filters {
    struct bs_buf literal; /* the start of each kind of filter: its form, the root and a slash */
    struct bs_buf subpath;
    struct bs_buf regex;
    struct bs_bytes root;     /* the root; not copied */
    struct bs_unfold *unfold; /* NULL if filters do not fold */
    struct bs_spelled spelled;
};

/* Prepare the data of all filters. Returns false if memory ran out. Call bs_filters_close in both
 * cases. */
bool bs_filters_open(struct bs_filters *filters, const struct bs_bytes *root,
                     struct bs_unfold *unfold);
void bs_filters_close(struct bs_filters *filters);

/* Append the filter for the body of a rule. The body must have no control characters, and must be
 * folded if filters fold. Returns NULL, or a static message with the reason and the remedy if the
 * rule can have no filter; then the appended text must not be used. If memory runs out, out->failed
 * is set. */
const char *bs_filter_put(const struct bs_filters *filters, const struct bs_body *body, bool deny,
                          struct bs_buf *out);

/* Append `(subpath "PLACE")`, with the text `below` after the place. Returns as bs_filter_put
 * does. */
const char *bs_filter_put_place(const struct bs_bytes *place, const char *below,
                                struct bs_buf *out);

#endif
