/* The two lists of a profile as the compiler wants them: bodies, folded where names fold. */
#ifndef BS_SBPL_BODIES_H
#define BS_SBPL_BODIES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <boxspec/profile.h>

#include "base/buf.h"

/* The paths that a rule matches, in normal form. */
struct bs_body {
    const char *text;
    size_t len;
    size_t top;    /* bytes without the `**` segments at its end: they mean no more than one */
    unsigned look; /* classes of the bytes, sbpl/spell.h */
    /* The length of the leading segments without wildcards, `**` segments at the end aside; 0
     * without such segments, and for the root. Set for read rules from denied_from on. */
    size_t place;
    /* Where the text has its filter as a deny, which may be wanted twice; a length of 0: nowhere.
     */
    size_t filter_at;
    size_t filter_len;
};

struct bs_bodies {
    const struct bs_entry *entries;
    struct bs_body *items; /* of entries[i] */
    size_t n;
    size_t n_own;       /* the first so many are the profile's own */
    size_t denied_from; /* index of the first negated one, n without any */
};

struct bs_both_bodies {
    struct bs_bodies lists[2]; /* by enum bs_op */
    struct bs_body *items;
    struct bs_buf folded;
};

/* False when memory ran out. */
bool bs_bodies_open(const struct bs_profile *profile, struct bs_both_bodies *both);
void bs_bodies_close(struct bs_both_bodies *both);

/* The root is `.`. Everything is a rule of `**` segments only. */
static inline bool bs_body_is_root(const struct bs_body *body) {
    return body->len == 1 && body->text[0] == '.';
}

static inline bool bs_body_is_everything(const struct bs_body *body) {
    return body->top == 2 && memcmp(body->text, "**", 2) == 0;
}

/* Writes the name of an entry for messages, as `denyRead[2]`, in at most `size` bytes. Returns
 * buf. */
const char *bs_body_name(const struct bs_both_bodies *both, enum bs_op op, size_t index, char *buf,
                         size_t size);

#endif
