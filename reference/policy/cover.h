/* Which rules of a set cover a rule, by their letters (bs_rule_covers), in time that grows with the
 * depth of the rule and not with the size of the set. */
#ifndef BS_POLICY_COVER_H
#define BS_POLICY_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/table.h"

struct bs_cover {
    struct bs_table bodies;
    uint32_t everything_first; /* of the `**` in the set */
    uint32_t everything_last;
    bool has_everything;
    bool has_subtrees;
    bool is_empty;
};

/* Numbers of the covering rules; BS_NO_COVER in both when there is none. */
struct bs_span {
    uint32_t first;
    uint32_t last;
};

#define BS_NO_COVER UINT32_MAX

/* Room for `most` rules. False when memory ran out; nothing to clear then. */
bool bs_cover_init(struct bs_cover *cover, size_t most);
void bs_cover_clear(struct bs_cover *cover); /* a zeroed one, too, and twice */

/* Rules are added by growing number; the body stays the caller's. */
void bs_cover_add(struct bs_cover *cover, const char *body, size_t len, uint32_t number);

bool bs_cover_has_equal(const struct bs_cover *cover, const char *body, size_t len);

/* Of all rules that cover it, the equal one with them or not: the smallest and the largest number.
 */
struct bs_span bs_cover_find(const struct bs_cover *cover, const char *body, size_t len,
                             bool also_equal);

#endif
