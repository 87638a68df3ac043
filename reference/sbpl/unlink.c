#include "sbpl/unlink.h"

#include <string.h>

#include "policy/table.h"

/* What has a clause already, by its body. */
struct seen {
    struct bs_table table;
    uint64_t seed;
};

static bool open_seen(struct seen *seen, const struct bs_bodies *read) {
    size_t most = 1;
    for (size_t i = read->denied_from; i < read->n; i++) {
        const struct bs_pattern *body = &read->items[i];
        most += read->entries[i].negated;
        for (size_t k = 0; k < body->len && read->entries[i].negated; k++)
            most += body->text[k] == '/';
    }
    seen->seed = bs_table_seed(seen);
    return bs_table_init(&seen->table, most);
}

/* Nothing when there is a clause already. Ancestors are asked for from the top, so one that is too
 * long to be written ends the compile before many of them have been hashed. */
static const char *put(const struct bs_filters *filters, const char *text, size_t len,
                       struct seen *seen, struct bs_buf *out) {
    struct bs_pattern body = {text, len};
    bool added = false;
    (void)bs_table_add(&seen->table, (uint32_t)bs_table_hash(seen->seed, text, len), text, len, 0,
                       &added);
    if (!added)
        return NULL;
    bs_buf_str(out, "(deny file-write-unlink ");
    const char *problem = bs_filter_put(filters, &body, true, out);
    bs_buf_str(out, ")\n");
    return problem;
}

static const char *put_entry(const struct bs_filters *filters, const struct bs_pattern *body,
                             struct seen *seen, struct bs_buf *out) {
    size_t place = bs_body_place(body);
    bool whole = place == bs_filter_top(body); /* then the place is the rule's own filter */
    const char *problem = NULL;
    for (size_t i = 1; i <= place && problem == NULL; i++) {
        bool ends = i < body->len && body->text[i] == '/';
        if (ends && (i < place || !whole))
            problem = put(filters, body->text, i, seen, out);
    }
    return problem != NULL ? problem : put(filters, body->text, body->len, seen, out);
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
