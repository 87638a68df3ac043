/* The inner structure of a compiled profile, for the files that explain decisions or follow
 * links. */
#ifndef BS_POLICY_PROFILE_CHECK_H
#define BS_POLICY_PROFILE_CHECK_H

#include <boxspec/profile.h>

#include "policy/path/path.h"
#include "policy/profile/resolve.h"

/* The decision about a path, if a certain rule is the last match. */
struct bs_outcome {
    const char *rule;
    size_t rule_len;
    bool allowed;
    bool own_rules_decide; /* true for an exception */
};

/* A matcher and the decision for each of its results: outcomes[0] for no match, and outcomes[i + 1]
 * for entry i. */
struct bs_decider {
    struct bs_matcher *matcher; /* NULL if there is no entry */
    struct bs_outcome *outcomes;
};

struct bs_profile {
    struct bs_decider full[2]; /* for each enum bs_op: the whole list */
    struct bs_decider own; /* only the profile's own modify rules; needed if there are exceptions */
    struct bs_effective effective;
    bool fold;
    struct bs_arena *arena;
};

/* Decide about a path in normal form. If `deciding` is not NULL, *deciding becomes the index of the
 * entry that decided, or BS_NO_RULE. Returns NULL if memory ran out. */
const struct bs_outcome *bs_profile_outcome(const struct bs_profile *profile, enum bs_op op,
                                            const struct bs_path_view *path, ptrdiff_t *deciding);

/* For each entry of the list, set matched[i] to true if the entry matches the path, which is in
 * normal form. Returns false if memory ran out. */
bool bs_note_matches(const struct bs_list *list, bool fold, struct bs_path_view path,
                     bool *matched);

/* Match one glob, without folding. Returns false if memory ran out. */
bool bs_matches_pattern(const struct bs_pattern *pattern, struct bs_path_view path, bool *matched);

#endif
