/* The two lists of a profile as the compiler wants them: bodies, folded where names fold. */
#ifndef BS_SBPL_BODIES_H
#define BS_SBPL_BODIES_H

#include <stdbool.h>
#include <stddef.h>

#include <boxspec/profile.h>

#include "base/buf.h"
#include "policy/matcher.h"

struct bs_bodies {
    const struct bs_entry *entries;
    struct bs_pattern *items; /* of entries[i] */
    size_t n;
    size_t n_own;       /* the first so many are the profile's own */
    size_t denied_from; /* the first that is negated, n for none */
};

struct bs_both_bodies {
    struct bs_bodies lists[2]; /* by enum bs_op */
    struct bs_pattern *items;
    struct bs_buf folded;
};

/* False when memory ran out. */
bool bs_bodies_open(const struct bs_profile *profile, struct bs_both_bodies *both);
void bs_bodies_close(struct bs_both_bodies *both);

/* The length of the leading segments of a body that have no wildcards, `**` segments at its end
 * aside; 0 for the root. */
size_t bs_body_place(const struct bs_pattern *body);

/* What an entry is called in messages, `denyRead[2]`; at most `size` bytes. Returns buf. */
const char *bs_body_name(const struct bs_both_bodies *both, enum bs_op op, size_t index, char *buf,
                         size_t size);

#endif
