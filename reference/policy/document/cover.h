/* Finds the rules of a set that cover another rule, judged by their texts (bs_rule_covers). The
 * time depends on the depth of the rule, not on the size of the set. */
#ifndef BS_POLICY_DOCUMENT_COVER_H
#define BS_POLICY_DOCUMENT_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "policy/model.h"

/* A set of rules. bs_rule.hash must be the hash of the body with the seed of this set. */
struct bs_cover {
    struct bs_table bodies;
    struct bs_table subtrees; /* keys: the tops of the subtrees */
    uint64_t seed;
    uint64_t subtree_starts[4]; /* one bit for each value of start_of that a subtree has */
    uint32_t everything_first;  /* first number of a rule `**` in the set */
    uint32_t everything_last;
    bool has_everything;
    bool is_empty;
};

/* Smallest and largest number of the rules that cover a rule. Both are BS_NO_COVER if there is
 * none. */
struct bs_span {
    uint32_t first;
    uint32_t last;
};

#define BS_NO_COVER UINT32_MAX

/* Fill the set with rules of two lists: with the negated rules, or with all others. The numbers of
 * the rules of `more`, which may be NULL, continue those of `rules`. The set points to the rules,
 * so the caller keeps them. Returns false if memory ran out; the set need not be cleared then. */
bool bs_cover_fill(struct bs_cover *cover, const struct bs_rules *rules,
                   const struct bs_rules *more, bool negated, uint64_t seed);
void bs_cover_clear(struct bs_cover *cover); /* may be called for a zeroed set, and several times */

bool bs_cover_has_equal(const struct bs_cover *cover, const struct bs_rule *rule);

/* True if a rule of the set covers this rule or equals it. Faster than bs_cover_find. */
bool bs_cover_covers(const struct bs_cover *cover, const struct bs_rule *rule);

/* Return the smallest and the largest number of the rules that cover this one. Equal rules count
 * only if `also_equal` is true. */
struct bs_span bs_cover_find(const struct bs_cover *cover, const struct bs_rule *rule,
                             bool also_equal);

#endif
