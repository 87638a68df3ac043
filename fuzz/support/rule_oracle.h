/* Rules by the words of the contract, segment by segment and without haste: what the reference's
 * own reading of rules is compared with. */
#ifndef BS_FUZZ_RULE_ORACLE_H
#define BS_FUZZ_RULE_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "support/node.h"
#include "support/pool.h"

struct bs_fuzz_rule {
    const char *body; /* normal form, a NUL behind it */
    size_t len;
    bool negated;
    bool of_workspace;
    struct bs_fuzz_place place;
};

/* False: refused. Fills body, len and negated. */
bool bs_fuzz_rule_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_rule *rule);

bool bs_fuzz_rule_equals(const struct bs_fuzz_rule *a, const struct bs_fuzz_rule *b);

/* Whether all that `rule` matches is matched by `cover`, by their letters. */
bool bs_fuzz_rule_covers(const struct bs_fuzz_rule *cover, const struct bs_fuzz_rule *rule);

/* Of P with a last segment of two stars: the length of P; else 0. */
size_t bs_fuzz_rule_top(const struct bs_fuzz_rule *rule);

/* An exact path or a subtree of one. */
bool bs_fuzz_rule_is_plain(const struct bs_fuzz_rule *rule);

/* Begins or ends with a blank: no path does. */
bool bs_fuzz_rule_is_vain(const struct bs_fuzz_rule *rule);

/* The rule as answers write it, without its `!`. */
const char *bs_fuzz_rule_spelled(const struct bs_fuzz_rule *rule, struct bs_fuzz_pool *pool);

#endif
