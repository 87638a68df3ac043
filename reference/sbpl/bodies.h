/* The two lists of a profile in the form that the compiler needs: the body of each rule, folded if
 * the profile folds. */
#ifndef BS_SBPL_BODIES_H
#define BS_SBPL_BODIES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <boxspec/profile.h>

#include "base/buf.h"

/* A rule without `!`, in normal form. */
struct bs_body {
    const char *text;
    size_t len;
    /* length without the `**` segments at its end; several of them mean the same as one */
    size_t top;
    unsigned look; /* the classes of the bytes in the body, as bits (sbpl/spell.h) */
    /* Length of the segments before the first wildcard, also if this wildcard is the `**` at the
     * end. 0 if there are none, or if the body is the root. Set only for read rules from
     * denied_from on. */
    size_t place;
    /* Position of the rule's filter in the text, so that a second clause can copy the filter.
     * filter_len is 0 as long as the text does not have the filter. */
    size_t filter_at;
    size_t filter_len;
};

struct bs_bodies {
    const struct bs_entry *entries;
    struct bs_body *items; /* items[i] is the body of entries[i] */
    size_t n;
    size_t n_own;       /* number of the profile's own rules, which come first */
    size_t denied_from; /* index of the first negated entry; n if there is none */
};

struct bs_both_bodies {
    struct bs_bodies lists[2]; /* for each enum bs_op */
    struct bs_body *items;
    struct bs_buf folded;
};

/* Make both lists. Returns false if memory ran out. */
bool bs_bodies_open(const struct bs_profile *profile, struct bs_both_bodies *both);
void bs_bodies_close(struct bs_both_bodies *both);

/* True for the root, `.`. bs_body_is_everything is true for a rule that has only `**` segments. */
static inline bool bs_body_is_root(const struct bs_body *body) {
    return body->len == 1 && body->text[0] == '.';
}

static inline bool bs_body_is_everything(const struct bs_body *body) {
    return body->top == 2 && memcmp(body->text, "**", 2) == 0;
}

/* Write the name of an entry for messages, such as `denyRead[2]`, in at most `size` bytes. Returns
 * `buf`. */
const char *bs_body_name(const struct bs_both_bodies *both, enum bs_op op, size_t index, char *buf,
                         size_t size);

#endif
