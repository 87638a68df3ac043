#include "policy/document/validate.h"

#include <string.h>

static const struct bs_pointer spec = {NULL, "spec", 4, 0};
static const struct bs_pointer profiles = {&spec, "fsProfiles", 10, 0};

static void at_item(struct bs_problems *problems, const struct bs_pointer *up, const char *list,
                    const struct bs_rule *rule, const char *code, const char *message) {
    struct bs_pointer in_list = {up, list, strlen(list), 0};
    problems->source = rule->source;
    bs_problems_add_item(problems, (struct bs_place){rule->line, rule->column}, &in_list,
                         rule->index, code, message);
}

void bs_problem_at_deny(struct bs_problems *problems, const char *list, const struct bs_rule *rule,
                        const char *code, const char *message) {
    at_item(problems, &spec, list, rule, code, message);
}

void bs_problem_at_rule(struct bs_problems *problems, const struct bs_profile_rules *profile,
                        const char *list, const struct bs_rule *rule, const char *code,
                        const char *message) {
    struct bs_pointer name = {&profiles, profile->name, strlen(profile->name), 0};
    at_item(problems, &name, list, rule, code, message);
}

void bs_problem_at_profile(struct bs_problems *problems, const struct bs_profile_rules *profile,
                           const char *code, const char *message) {
    struct bs_pointer name = {&profiles, profile->name, strlen(profile->name), 0};
    problems->source = profile->source;
    bs_problems_add(problems, (struct bs_place){profile->line, profile->column}, &name, code,
                    message);
}

bool bs_denies_fill(struct bs_denies *denies, const struct bs_policy *policy,
                    const struct bs_policy *above) {
    return bs_cover_fill(&denies->read, &policy->deny_read,
                         above != NULL ? &above->deny_read : NULL, false, policy->seed) &&
           bs_cover_fill(&denies->modify, &policy->deny_modify,
                         above != NULL ? &above->deny_modify : NULL, false, policy->seed);
}

void bs_denies_clear(struct bs_denies *denies) {
    bs_cover_clear(&denies->read);
    bs_cover_clear(&denies->modify);
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
    if (!bs_cover_fill(&readable, &profile->read, NULL, false, seed))
        return false;
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

bool bs_validate_profiles(const struct bs_policy *policy, const struct bs_denies *denies,
                          struct bs_problems *problems) {
    static const char in_read[] = "denyRead has the same rule; a profile cannot have it too";
    static const char in_modify[] = "denyModify has the same rule; a profile cannot have it too";
    bool good = true;
    for (size_t i = 0; i < policy->n_profiles && good; i++) {
        const struct bs_profile_rules *profile = &policy->profiles[i];
        good = all_covered(profile, policy->seed, problems);
        none_equals(profile, "read", &profile->read, &denies->read, in_read, NULL, NULL, problems);
        none_equals(profile, "modify", &profile->modify, &denies->modify, in_modify, &denies->read,
                    in_read, problems);
    }
    return good && !problems->failed;
}
