/* A compiled profile from within: what explaining and locating need beyond a check. */
#ifndef BS_POLICY_PROFILE_CHECK_H
#define BS_POLICY_PROFILE_CHECK_H

#include <boxspec/profile.h>

#include "policy/path/path.h"
#include "policy/profile/resolve.h"

/* What a rule says when it is the highest match. */
struct bs_outcome {
    const char *rule;
    size_t rule_len;
    bool allowed;
    bool asks_own; /* an exception: the profile's own rules are asked instead */
};

/* `outcomes` has one more than there are entries: the first is for no match, so that the index that
 * the matcher gives, plus one, needs no branch. */
struct bs_asked {
    struct bs_matcher *matcher; /* NULL: there is no entry */
    struct bs_outcome *outcomes;
};

struct bs_profile {
    struct bs_asked full[2]; /* by enum bs_op */
    struct bs_asked own;     /* the profile's own modify rules; used where there are exceptions */
    struct bs_effective effective;
    bool fold;
    struct bs_arena *arena;
};

/* The path is in its normal form. With `deciding`: the index of the entry that the outcome names,
 * or BS_NO_RULE. NULL when memory ran out. */
const struct bs_outcome *bs_profile_outcome(const struct bs_profile *profile, enum bs_op op,
                                            const struct bs_path_view *path, ptrdiff_t *deciding);

#endif
