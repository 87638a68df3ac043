/* Finds the rules of a set that cover another rule, by comparing only the texts (bs_rule_covers).
 * The time depends on the depth of the rule and not on the size of the set. */
#ifndef BS_POLICY_DOCUMENT_COVER_H
#define BS_POLICY_DOCUMENT_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "policy/model.h"

/* A set of rules. The hash of each rule (bs_rule.hash) must be computed with the seed of this
 * set. */
struct bs_cover {
    struct bs_table bodies;
    struct bs_table subtrees; /* the keys are the paths of the subtrees, without the `**` */
    uint64_t seed;
    /* one bit for each number of start_of that a subtree in the set has */
    uint64_t subtree_starts[4];
    /* the smallest and the largest number of the rules `**` in the set */
    uint32_t everything_first;
    uint32_t everything_last;
    bool has_everything;
    bool is_empty;
};

/* The smallest and the largest number of the rules that cover a rule. Both are BS_NO_COVER if no
 * rule covers it. */
struct bs_span {
    uint32_t first;
    uint32_t last;
};

#define BS_NO_COVER UINT32_MAX

/* Fill the set with the negated rules of two lists, or with all other rules of them. The numbers of
 * the rules of `more`, which may be NULL, continue those of `rules`. The set points to the rules,
 * so the caller keeps them. Returns false if memory ran out; the set need not be cleared then. */
bool bs_cover_fill(struct bs_cover *cover, const struct bs_rules *rules,
                   const struct bs_rules *more, bool negated, uint64_t seed);
void bs_cover_clear(struct bs_cover *cover); /* may be called for a zeroed set, and several times */

bool bs_cover_has_equal(const struct bs_cover *cover, const struct bs_rule *rule);

/* True if a rule of the set covers this rule or equals it. Faster than bs_cover_find. */
bool bs_cover_covers(const struct bs_cover *cover, const struct bs_rule *rule);

/* Return the smallest and the largest number of the rules that cover `rule`. Rules that equal it
 * count only if `also_equal` is true. */
struct bs_span bs_cover_find(const struct bs_cover *cover, const struct bs_rule *rule,
                             bool also_equal);

#endif
