/* Which rules of a set cover a rule, by their letters (bs_rule_covers), in time that grows with the
 * depth of the rule and not with the size of the set. */
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
    struct bs_table subtrees; /* by what their rules begin with */
    uint64_t seed;
    uint64_t subtree_starts[4]; /* bits of the segments that subtrees in the set begin with */
    uint32_t everything_first;  /* of the `**` in the set */
    uint32_t everything_last;
    bool has_everything;
    bool is_empty;
};

/* Numbers of the covering rules; BS_NO_COVER in both when there is none. */
struct bs_span {
    uint32_t first;
    uint32_t last;
};

#define BS_NO_COVER UINT32_MAX

/* Fills it with the rules of two lists, one behind the other and numbered so; the second may be
 * NULL. Either those that are negated, or those that are not. The rules stay the caller's. False
 * when memory ran out; nothing to clear then. */
bool bs_cover_fill(struct bs_cover *cover, const struct bs_rules *rules,
                   const struct bs_rules *more, bool negated, uint64_t seed);
void bs_cover_clear(struct bs_cover *cover); /* a zeroed one, too, and twice */

bool bs_cover_has_equal(const struct bs_cover *cover, const struct bs_rule *rule);

/* Whether any rule of the set, the equal one too, covers it: quicker than bs_cover_find. */
bool bs_cover_covers(const struct bs_cover *cover, const struct bs_rule *rule);

/* Of all rules that cover it, the equal one with them or not: the smallest and the largest number.
 */
struct bs_span bs_cover_find(const struct bs_cover *cover, const struct bs_rule *rule,
                             bool also_equal);

#endif
