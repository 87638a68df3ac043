/* The rules that apply to a profile: its own rules, and after them the global denies. */
#ifndef BS_POLICY_PROFILE_RESOLVE_H
#define BS_POLICY_PROFILE_RESOLVE_H

#include <boxspec/profile.h>

#include "policy/match/matcher.h"

struct bs_policy;
struct bs_arena;

/* The list for one operation. patterns[i] is the body of entries[i]. */
struct bs_list {
    struct bs_entry *entries;
    struct bs_pattern *patterns;
    size_t n;
    size_t n_own;      /* number of the profile's own rules, which come first */
    bool has_positive; /* one of the own rules is not negated */
    bool has_exceptions;
};

struct bs_effective {
    const char *name;
    bool synthesized;
    struct bs_list lists[2]; /* for each enum bs_op */
};

/* Make the lists. All data is copied into the arena; *out does not point into the policy. Returns
 * as bs_profile_compile does. */
int bs_effective_profile(const struct bs_policy *policy, const char *name, struct bs_arena *arena,
                         struct bs_effective *out, struct bs_error *err);

#endif
