#include "sbpl/unlink.h"

#include <string.h>

#include "base/table.h"
#include "sbpl/put.h"
#include "sbpl/spell.h"

/* The bodies for which a clause was written already. */
struct seen {
    struct bs_table table;
    uint64_t seed;
};

/* Return the end of the next ancestor after `from`, or 0 if there is none. If the rule has a
 * wildcard after its literal names, the path of these names is an ancestor too. */
static size_t next_ancestor(const struct bs_body *body, size_t from) {
    size_t place = body->place;
    const char *slash = place > from ? memchr(body->text + from, '/', place - from) : NULL;
    if (slash != NULL)
        return (size_t)(slash - body->text);
    return from <= place && place < body->top ? place : 0;
}

static bool open_seen(struct seen *seen, const struct bs_bodies *read) {
    size_t most = 1;
    for (size_t i = read->denied_from; i < read->n; i++) {
        const struct bs_body *body = &read->items[i];
        if (!read->entries[i].negated)
            continue;
        most++;
        for (size_t end = next_ancestor(body, 0); end > 0; end = next_ancestor(body, end + 1))
            most++;
    }
    seen->seed = bs_table_seed(seen);
    return bs_table_init(&seen->table, most);
}

/* True if the text was not seen before. Each ancestor is hashed as a whole. This is not too slow:
 * ancestors are visited from the top, and the compilation ends at the first one that is too long
 * for a filter. */
static bool is_new(struct seen *seen, const char *text, size_t len) {
    bool added = false;
    uint32_t hash = (uint32_t)bs_table_hash(seen->seed, text, len);
    (void)bs_table_add(&seen->table, hash, text, len, 0, &added);
    return added;
}

static const char *put(const struct bs_filters *filters, const struct bs_body *body,
                       struct bs_buf *out) {
    const char *problem = NULL;
    BS_PUT(out, "(deny file-write-unlink ");
    if (body->filter_len == 0)
        problem = bs_filter_put(filters, body, true, out);
    else if (bs_buf_reserve(out,
                            /* without this, the source could move while it is copied */
                            body->filter_len))
        bs_put(out, out->data + body->filter_at, body->filter_len);
    BS_PUT(out, ")\n");
    return problem;
}

static const char *put_entry(const struct bs_filters *filters, const struct bs_body *body,
                             struct seen *seen, struct bs_buf *out) {
    const char *problem = NULL;
    for (size_t end = next_ancestor(body, 0); end > 0 && problem == NULL;
         end = next_ancestor(body, end + 1)) {
        struct bs_body ancestor = {.text = body->text,
                                   .len = end,
                                   .top = end,
                                   .look = body->look & ~(unsigned)BS_HAS_WILDCARD};
        if (is_new(seen, body->text, end))
            problem = put(filters, &ancestor, out);
    }
    if (problem == NULL && is_new(seen, body->text, body->len))
        problem = put(filters, body, out);
    return problem;
}

const char *bs_unlink_put(const struct bs_filters *filters, const struct bs_bodies *read,
                          struct bs_buf *out, size_t *at) {
    struct seen seen = {.table = BS_TABLE_INIT};
    const char *problem = NULL;
    if (read->denied_from == read->n)
        return NULL;
    if (!open_seen(&seen, read)) {
        out->failed = true;
        return NULL;
    }
    for (size_t i = read->denied_from; i < read->n && problem == NULL; i++) {
        *at = i;
        if (read->entries[i].negated)
            problem = put_entry(filters, &read->items[i], &seen, out);
    }
    bs_table_clear(&seen.table);
    return problem;
}
