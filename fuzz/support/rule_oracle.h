/* Read rules by the contract, segment by segment; the reference's reader is compared with this one.
 */
#ifndef BS_FUZZ_RULE_ORACLE_H
#define BS_FUZZ_RULE_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "support/node.h"
#include "support/pool.h"

struct bs_fuzz_rule {
    const char *body; /* normal form, ends in a NUL */
    size_t len;
    bool negated;
    bool of_workspace;
    bool names_folder; /* ends in a separator, and matches no path below */
    struct bs_fuzz_place place;
};

/* Fill body, len, negated and names_folder. False if the rule must be refused. */
bool bs_fuzz_rule_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_rule *rule);

bool bs_fuzz_rule_equals(const struct bs_fuzz_rule *a, const struct bs_fuzz_rule *b);

/* True if `cover` matches all that `rule` matches, judged by their text. */
bool bs_fuzz_rule_covers(const struct bs_fuzz_rule *cover, const struct bs_fuzz_rule *rule);

/* For P followed by a `**` segment: the length of P; otherwise 0. */
size_t bs_fuzz_rule_top(const struct bs_fuzz_rule *rule);

/* True for an exact path, or a subtree of one. */
bool bs_fuzz_rule_is_plain(const struct bs_fuzz_rule *rule);

/* True if the rule begins or ends with a blank. No path does, so the rule matches no path. */
bool bs_fuzz_rule_is_vain(const struct bs_fuzz_rule *rule);

/* The rule as answers spell it, without `!`. */
const char *bs_fuzz_rule_spelled(const struct bs_fuzz_rule *rule, struct bs_fuzz_pool *pool);

#endif
