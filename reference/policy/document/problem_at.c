#include "policy/document/problem_at.h"

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
