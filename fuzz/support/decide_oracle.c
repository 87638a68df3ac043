#include "support/decide_oracle.h"

#include <string.h>

#include "support/glob_oracle.h"

static void fill(struct bs_fuzz_list *list, const struct bs_fuzz_rules *own,
                 const struct bs_fuzz_rules *denies, struct bs_fuzz_pool *pool) {
    list->n = own->n + denies->n;
    list->entries = bs_fuzz_take(pool, list->n * sizeof *list->entries);
    for (size_t i = 0; i < own->n; i++)
        list->entries[i] = (struct bs_fuzz_entry){
            &own->items[i], own->items[i].negated ? BS_FUZZ_DENIES : BS_FUZZ_ALLOWS, true};
    for (size_t i = 0; i < denies->n; i++)
        list->entries[own->n + i] = (struct bs_fuzz_entry){
            &denies->items[i], denies->items[i].negated ? BS_FUZZ_ASKS_OWN : BS_FUZZ_DENIES, false};
}

bool bs_fuzz_resolve(const struct bs_fuzz_policy *policy, const char *name,
                     struct bs_fuzz_pool *pool, struct bs_fuzz_resolved *resolved) {
    static struct bs_fuzz_rule everything = {.body = "**", .len = 2};
    static const struct bs_fuzz_profile unrestricted = {
        .name = "unrestricted", .read = {&everything, 1}, .modify = {&everything, 1}};
    const struct bs_fuzz_profile *profile = NULL;
    name = name != NULL ? name : unrestricted.name;
    for (size_t i = 0; i < policy->n_profiles; i++) {
        if (strcmp(policy->profiles[i].name, name) == 0)
            profile = &policy->profiles[i];
    }
    resolved->synthesized = profile == NULL;
    if (profile == NULL && strcmp(name, unrestricted.name) == 0)
        profile = &unrestricted;
    if (profile == NULL)
        return false;
    resolved->name = profile->name;
    fill(&resolved->read, &profile->read, &policy->deny_read, pool);
    fill(&resolved->modify, &profile->modify, &policy->deny_modify, pool);
    return true;
}

bool bs_fuzz_lower(char *text) {
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c >= 0x80)
            return false;
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
    }
    return true;
}

bool bs_fuzz_lower_list(const struct bs_fuzz_list *list, struct bs_fuzz_pool *pool,
                        struct bs_fuzz_list *lowered) {
    lowered->n = list->n;
    lowered->entries = bs_fuzz_take(pool, list->n * sizeof *lowered->entries);
    for (size_t i = 0; i < list->n; i++) {
        struct bs_fuzz_rule *rule = bs_fuzz_take(pool, sizeof *rule);
        char *body = bs_fuzz_keep(pool, list->entries[i].rule->body, list->entries[i].rule->len);
        if (!bs_fuzz_lower(body))
            return false;
        *rule = *list->entries[i].rule;
        rule->body = body;
        lowered->entries[i] = list->entries[i];
        lowered->entries[i].rule = rule;
    }
    return true;
}

static ptrdiff_t last_match(const struct bs_fuzz_list *list, bool own_only, const char *path,
                            size_t len) {
    for (size_t i = list->n; i > 0; i--) {
        const struct bs_fuzz_entry *entry = &list->entries[i - 1];
        if ((entry->is_own || !own_only) &&
            bs_oracle_glob_matches(entry->rule->body, entry->rule->len, path, len))
            return (ptrdiff_t)(i - 1);
    }
    return -1;
}

static const char *for_no_match(const struct bs_fuzz_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        if (list->entries[i].sign == BS_FUZZ_ALLOWS)
            return "<no matching rule>";
    }
    return "[]";
}

struct bs_fuzz_answer bs_fuzz_decide(const struct bs_fuzz_list *list, const char *path, size_t len,
                                     struct bs_fuzz_pool *pool) {
    ptrdiff_t number = last_match(list, false, path, len);
    if (number >= 0 && list->entries[number].sign == BS_FUZZ_ASKS_OWN)
        number = last_match(list, true, path, len);
    if (number < 0)
        return (struct bs_fuzz_answer){false, for_no_match(list), number};
    const struct bs_fuzz_entry *entry = &list->entries[number];
    return (struct bs_fuzz_answer){entry->sign == BS_FUZZ_ALLOWS,
                                   bs_fuzz_rule_spelled(entry->rule, pool), number};
}
