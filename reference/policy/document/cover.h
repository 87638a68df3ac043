/* Which rules of a set cover a rule by their letters (bs_rule_covers). The time grows with the
 * depth of the rule, not with the size of the set. */
#ifndef BS_POLICY_DOCUMENT_COVER_H
#define BS_POLICY_DOCUMENT_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "policy/model.h"

/* A set of rules. bs_rule.hash is the table hash of the body, by the seed of the set. */
struct bs_cover {
    struct bs_table bodies;
    struct bs_table subtrees; /* by their tops */
    uint64_t seed;
    uint64_t subtree_starts[4]; /* a bit for each hash of a first segment of a subtree */
    uint32_t everything_first;  /* of the `**` in the set */
    uint32_t everything_last;
    bool has_everything;
    bool is_empty;
};

/* Numbers of the covering rules; both are BS_NO_COVER without any. */
struct bs_span {
    uint32_t first;
    uint32_t last;
};

#define BS_NO_COVER UINT32_MAX

/* Fills the set with the negated rules of two lists, or with those that are not negated. The
 * numbers of the rules of `more`, which may be NULL, continue those of `rules`. The caller keeps
 * all rules. False if memory ran out; the set needs no clear then. */
bool bs_cover_fill(struct bs_cover *cover, const struct bs_rules *rules,
                   const struct bs_rules *more, bool negated, uint64_t seed);
void bs_cover_clear(struct bs_cover *cover); /* also of a zeroed set, and any number of times */

bool bs_cover_has_equal(const struct bs_cover *cover, const struct bs_rule *rule);

/* True if a rule of the set covers this one; an equal one counts. Quicker than bs_cover_find. */
bool bs_cover_covers(const struct bs_cover *cover, const struct bs_rule *rule);

/* The smallest and the largest number of the rules that cover this one. Equal rules count if
 * `also_equal` is true. */
struct bs_span bs_cover_find(const struct bs_cover *cover, const struct bs_rule *rule,
                             bool also_equal);

#endif
