#include "policy/validate.h"

#include <string.h>

#include "policy/cover.h"
#include "policy/problem_at.h"

/* Denies alone: an exception takes nothing away. */
static bool denies_of(struct bs_cover *denies, uint64_t seed, const struct bs_rules *own,
                      const struct bs_rules *above) {
    if (!bs_cover_init(denies, own->n + (above != NULL ? above->n : 0), seed))
        return false;
    bs_cover_add_all(denies, own, false);
    if (above != NULL)
        bs_cover_add_all(denies, above, false);
    return true;
}

static bool reads_everything(const struct bs_profile_rules *profile) {
    for (size_t i = 0; i < profile->read.n; i++) {
        const struct bs_rule *rule = &profile->read.items[i];
        if (rule->len == 2 && memcmp(rule->body, "**", 2) == 0 && !rule->negated)
            return true;
    }
    return false;
}

static bool all_covered(const struct bs_profile_rules *profile, uint64_t seed,
                        struct bs_problems *problems) {
    if (profile->modify.n == 0 || reads_everything(profile))
        return true;
    struct bs_cover readable = {0};
    if (!bs_cover_init(&readable, profile->read.n, seed))
        return false;
    bs_cover_add_all(&readable, &profile->read, false);
    for (size_t i = 0; i < profile->modify.n; i++) {
        const struct bs_rule *rule = &profile->modify.items[i];
        if (!rule->negated && !bs_cover_covers(&readable, rule))
            bs_problem_at_rule(problems, profile, "modify", rule, NULL,
                               "no `read` rule of this profile covers this one; what may be "
                               "written must be readable");
    }
    bs_cover_clear(&readable);
    return true;
}

static void none_equals(const struct bs_profile_rules *profile, const char *list,
                        const struct bs_rules *rules, const struct bs_cover *denies,
                        const char *message, const struct bs_cover *more, const char *more_message,
                        struct bs_problems *problems) {
    for (size_t i = 0; i < rules->n; i++) {
        const struct bs_rule *rule = &rules->items[i];
        if (bs_cover_has_equal(denies, rule))
            bs_problem_at_rule(problems, profile, list, rule, NULL, message);
        else if (more != NULL && bs_cover_has_equal(more, rule))
            bs_problem_at_rule(problems, profile, list, rule, NULL, more_message);
    }
}

bool bs_validate_profiles(const struct bs_policy *policy, const struct bs_policy *above,
                          struct bs_problems *problems) {
    static const char in_read[] = "denyRead has this very rule; a profile cannot have it too";
    static const char in_modify[] = "denyModify has this very rule; a profile cannot have it too";
    struct bs_cover deny_read = {0};
    struct bs_cover deny_modify = {0};
    bool good = denies_of(&deny_read, policy->seed, &policy->deny_read,
                          above != NULL ? &above->deny_read : NULL) &&
                denies_of(&deny_modify, policy->seed, &policy->deny_modify,
                          above != NULL ? &above->deny_modify : NULL);
    for (size_t i = 0; i < policy->n_profiles && good; i++) {
        const struct bs_profile_rules *profile = &policy->profiles[i];
        good = all_covered(profile, policy->seed, problems);
        none_equals(profile, "read", &profile->read, &deny_read, in_read, NULL, NULL, problems);
        none_equals(profile, "modify", &profile->modify, &deny_modify, in_modify, &deny_read,
                    in_read, problems);
    }
    bs_cover_clear(&deny_read);
    bs_cover_clear(&deny_modify);
    return good && !problems->failed;
}
