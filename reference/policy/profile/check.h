/* The inside of a compiled profile: data for explaining and locating. */
#ifndef BS_POLICY_PROFILE_CHECK_H
#define BS_POLICY_PROFILE_CHECK_H

#include <boxspec/profile.h>

#include "policy/path/path.h"
#include "policy/profile/resolve.h"

/* The outcome of a rule that is the last match. */
struct bs_outcome {
    const char *rule;
    size_t rule_len;
    bool allowed;
    bool asks_own; /* an exception: the profile's own rules decide instead */
};

/* outcomes[0] is for no match, outcomes[i + 1] for entry i: the result of the matcher plus one is
 * the index. */
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

/* Sets matched[i] for each entry of the list, matched alone. The path is in its normal form. False
 * if memory ran out. */
bool bs_note_matches(const struct bs_list *list, bool fold, struct bs_path_view path,
                     bool *matched);

/* One glob, without folding. False when memory ran out. */
bool bs_matches_alone(const struct bs_pattern *pattern, struct bs_path_view path, bool *matched);

#endif
