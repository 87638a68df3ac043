#include "policy/document/merge.h"

#include <string.h>

#include "base/arena.h"
#include "base/table.h"

/* Append all rules of another list, even those that the list has already: after an exception, a
 * repeated rule has an effect again. */
static bool append(struct bs_arena *arena, struct bs_rules *rules, const struct bs_rules *more) {
    if (more->n == 0)
        return true;
    struct bs_rule *both = bs_arena_take(arena, (rules->n + more->n) * sizeof *both);
    if (both == NULL)
        return false;
    if (rules->n > 0)
        memcpy(both, rules->items, rules->n * sizeof *both);
    memcpy(both + rules->n, more->items, more->n * sizeof *both);
    *rules = (struct bs_rules){both, rules->n + more->n};
    return true;
}

static bool lay_profiles(struct bs_policy *policy, const struct bs_policy *over) {
    size_t most = policy->n_profiles + over->n_profiles;
    struct bs_profile_rules *both = bs_arena_zeroed(policy->arena, most, sizeof *both);
    struct bs_table names = BS_TABLE_INIT;
    if (both == NULL || !bs_table_init(&names, most))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < most; i++) {
        const struct bs_profile_rules *profile =
            i < policy->n_profiles ? &policy->profiles[i] : &over->profiles[i - policy->n_profiles];
        size_t len = strlen(profile->name);
        bool added = false;
        const struct bs_slot *slot =
            bs_table_add(&names, (uint32_t)bs_table_hash(policy->seed, profile->name, len),
                         profile->name, len, (uint32_t)n, &added);
        both[slot->first] = *profile;
        n += added;
    }
    bs_table_clear(&names);
    policy->profiles = both;
    policy->n_profiles = n;
    return true;
}

bool bs_policy_merge(struct bs_policy *policy, const struct bs_policy *over) {
    policy->name = over->name;
    if (over->description != NULL)
        policy->description = over->description;
    if (over->labels.n > 0)
        policy->labels = over->labels;
    if (over->annotations.n > 0)
        policy->annotations = over->annotations;
    return append(policy->arena, &policy->deny_read, &over->deny_read) &&
           append(policy->arena, &policy->deny_modify, &over->deny_modify) &&
           lay_profiles(policy, over);
}
