/* Reads rules by the contract, segment by segment. The reader of the reference is compared with
 * it. */
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
    bool names_folder; /* ends in a separator, and matches no path below the directory */
    struct bs_fuzz_place place;
};

/* Fill body, len, negated and names_folder. Returns false if the rule must be refused. */
bool bs_fuzz_rule_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_rule *rule);

bool bs_fuzz_rule_equals(const struct bs_fuzz_rule *a, const struct bs_fuzz_rule *b);

/* True if the texts show that `cover` matches all paths that `rule` matches. */
bool bs_fuzz_rule_covers(const struct bs_fuzz_rule *cover, const struct bs_fuzz_rule *rule);

/* If the rule is P followed by a `**` segment, return the length of P, otherwise 0. */
size_t bs_fuzz_rule_top(const struct bs_fuzz_rule *rule);

/* True if the rule is an exact path or a subtree of one. */
bool bs_fuzz_rule_is_plain(const struct bs_fuzz_rule *rule);

/* True if the rule begins or ends with a blank. It then matches no path, because no path does
 * so. */
bool bs_fuzz_rule_is_vain(const struct bs_fuzz_rule *rule);

/* Return the rule as answers spell it, without `!`. */
const char *bs_fuzz_rule_spelled(const struct bs_fuzz_rule *rule, struct bs_fuzz_pool *pool);

#endif
