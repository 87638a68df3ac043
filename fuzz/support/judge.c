#include "support/judge.h"

#include <string.h>

#include "support/glob_oracle.h"
#include "support/shape_oracle.h"

/* True if the rule equals one of the denies. */
static bool any_equals(const struct bs_fuzz_rules *denies, const struct bs_fuzz_rule *rule) {
    for (size_t i = 0; i < denies->n; i++) {
        if (!denies->items[i].negated && bs_fuzz_rule_equals(&denies->items[i], rule))
            return true;
    }
    return false;
}

static bool any_covers(const struct bs_fuzz_rules *rules, bool negated,
                       const struct bs_fuzz_rule *rule) {
    for (size_t i = 0; i < rules->n; i++) {
        if (rules->items[i].negated == negated && bs_fuzz_rule_covers(&rules->items[i], rule))
            return true;
    }
    return false;
}

static bool is_denied_read(const struct bs_fuzz_policy *policy, const struct bs_fuzz_rule *rule) {
    return any_equals(&policy->deny_read, rule);
}

static bool is_denied_modify(const struct bs_fuzz_policy *policy, const struct bs_fuzz_rule *rule) {
    return any_equals(&policy->deny_modify, rule) || any_equals(&policy->deny_read, rule);
}

static void judge_profile(struct bs_fuzz_file *file, const struct bs_fuzz_policy *above,
                          const struct bs_fuzz_profile *profile) {
    for (size_t i = 0; i < profile->read.n; i++) {
        const struct bs_fuzz_rule *rule = &profile->read.items[i];
        if (is_denied_read(&file->policy, rule) || (above != NULL && is_denied_read(above, rule)))
            bs_fuzz_find(file, rule->place, "equals a denyRead");
    }
    for (size_t i = 0; i < profile->modify.n; i++) {
        const struct bs_fuzz_rule *rule = &profile->modify.items[i];
        if (!rule->negated && !any_covers(&profile->read, false, rule))
            bs_fuzz_find(file, rule->place, "modify without read");
        if (is_denied_modify(&file->policy, rule) ||
            (above != NULL && is_denied_modify(above, rule)))
            bs_fuzz_find(file, rule->place, "equals a deny");
    }
}

/* True if the exception lies inside the deny. */
static bool holds(const struct bs_fuzz_rule *deny, const struct bs_fuzz_rule *exception) {
    if (deny->negated || bs_fuzz_rule_equals(deny, exception))
        return false;
    size_t top = bs_fuzz_rule_top(exception);
    bool subtree = bs_fuzz_rule_top(deny) > 0 || strcmp(deny->body, "**") == 0;
    if (top > 0 && !subtree)
        return false;
    return bs_oracle_glob_matches(deny->body, deny->len, exception->body,
                                  top > 0 ? top : exception->len);
}

static bool is_held(const struct bs_fuzz_rules *denies, size_t number) {
    for (size_t i = 0; i < number; i++) {
        if (holds(&denies->items[i], &denies->items[number]))
            return true;
    }
    return false;
}

static void judge_exceptions(struct bs_fuzz_file *file, const struct bs_fuzz_policy *above) {
    const struct bs_fuzz_rules *denies = &file->policy.deny_modify;
    for (size_t i = 0; i < denies->n; i++) {
        const struct bs_fuzz_rule *rule = &denies->items[i];
        if (!rule->negated)
            continue;
        bool right =
            bs_fuzz_rule_is_plain(rule) &&
            (above != NULL ? any_covers(&above->deny_modify, true, rule) : is_held(denies, i));
        if (!right)
            bs_fuzz_find(file, rule->place, "an exception outside of denies");
    }
}

static void judge_file(struct bs_fuzz_file *file, const struct bs_fuzz_file *above) {
    if (!file->is_policy)
        return;
    const struct bs_fuzz_policy *over = above != NULL && above->is_policy ? &above->policy : NULL;
    for (size_t i = 0; i < file->policy.n_profiles; i++)
        judge_profile(file, over, &file->policy.profiles[i]);
    /* A workspace file may repeat exceptions of the global policy, so its exceptions can only be
     * judged if the global policy is given. */
    if (above == NULL || over != NULL)
        judge_exceptions(file, over);
}

static struct bs_fuzz_rules both(struct bs_fuzz_pool *pool, const struct bs_fuzz_rules *first,
                                 const struct bs_fuzz_rules *second) {
    size_t n = first->n + second->n;
    struct bs_fuzz_rules rules = {bs_fuzz_take(pool, n * sizeof *rules.items), n};
    for (size_t i = 0; i < n; i++)
        rules.items[i] = i < first->n ? first->items[i] : second->items[i - first->n];
    return rules;
}

static void lay_profile(struct bs_fuzz_policy *policy, const struct bs_fuzz_profile *profile) {
    size_t i = 0;
    while (i < policy->n_profiles && strcmp(policy->profiles[i].name, profile->name) != 0)
        i++;
    policy->profiles[i] = *profile;
    policy->n_profiles += i == policy->n_profiles;
}

static struct bs_fuzz_policy merge(struct bs_fuzz_pool *pool, const struct bs_fuzz_policy *global,
                                   const struct bs_fuzz_policy *workspace) {
    struct bs_fuzz_policy policy = {
        .name = workspace->name,
        .description =
            workspace->description != NULL ? workspace->description : global->description,
        .labels = workspace->labels.n > 0 ? workspace->labels : global->labels,
        .annotations = workspace->annotations.n > 0 ? workspace->annotations : global->annotations,
        .deny_read = both(pool, &global->deny_read, &workspace->deny_read),
        .deny_modify = both(pool, &global->deny_modify, &workspace->deny_modify)};
    policy.profiles =
        bs_fuzz_take(pool, (global->n_profiles + workspace->n_profiles) * sizeof *policy.profiles);
    for (size_t i = 0; i < global->n_profiles; i++)
        lay_profile(&policy, &global->profiles[i]);
    for (size_t i = 0; i < workspace->n_profiles; i++)
        lay_profile(&policy, &workspace->profiles[i]);
    return policy;
}

struct warner {
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_verdict *verdict;
    bool has_exceptions;
};

static void warn(struct warner *w, const char *code, struct bs_fuzz_place place, bool of_workspace,
                 bool is_doubtful) {
    struct bs_fuzz_finding *finding = bs_fuzz_take(w->pool, sizeof *finding);
    *finding =
        (struct bs_fuzz_finding){code, place, of_workspace, is_doubtful, w->verdict->warnings};
    w->verdict->warnings = finding;
}

static void warn_rule(struct warner *w, const char *code, const struct bs_fuzz_rule *rule) {
    warn(w, code, rule->place, rule->of_workspace, false);
}

static void warn_vain(struct warner *w, const struct bs_fuzz_rules *rules) {
    for (size_t i = 0; i < rules->n; i++) {
        if (bs_fuzz_rule_is_vain(&rules->items[i]))
            warn_rule(w, "matches-nothing", &rules->items[i]);
        if (rules->items[i].names_folder)
            warn_rule(w, "nothing-below", &rules->items[i]);
    }
}

/* True if the rule lies under a deny. A rule that equals a deny never gets this warning, because it
 * is an error within one file and allowed in a merge. */
static bool is_under(const struct bs_fuzz_rules *denies, const struct bs_fuzz_rule *rule) {
    for (size_t i = 0; i < denies->n; i++) {
        const struct bs_fuzz_rule *deny = &denies->items[i];
        if (!deny->negated && !bs_fuzz_rule_equals(deny, rule) && bs_fuzz_rule_covers(deny, rule))
            return true;
    }
    return false;
}

static void warn_under(struct warner *w, const struct bs_fuzz_rules *rules,
                       const struct bs_fuzz_rules *denies, bool is_doubtful) {
    for (size_t i = 0; i < rules->n; i++) {
        const struct bs_fuzz_rule *rule = &rules->items[i];
        if (!rule->negated && is_under(denies, rule))
            warn(w, "under-deny", rule->place, rule->of_workspace, is_doubtful);
    }
}

static void warn_unreadable(struct warner *w, const struct bs_fuzz_profile *profile) {
    for (size_t i = 0; i < profile->modify.n; i++) {
        const struct bs_fuzz_rule *rule = &profile->modify.items[i];
        bool last_takes = false;
        for (size_t j = 0; j < profile->read.n; j++) {
            if (bs_fuzz_rule_covers(&profile->read.items[j], rule))
                last_takes = profile->read.items[j].negated;
        }
        if (!rule->negated && last_takes)
            warn_rule(w, "modify-under-negated-read", rule);
    }
}

static void warn_all(struct warner *w, const struct bs_fuzz_policy *policy) {
    warn_vain(w, &policy->deny_read);
    warn_vain(w, &policy->deny_modify);
    for (size_t i = 0; i < policy->deny_read.n; i++) {
        if (!any_covers(&policy->deny_modify, false, &policy->deny_read.items[i]))
            warn_rule(w, "read-deny-without-modify-deny", &policy->deny_read.items[i]);
    }
    for (size_t i = 0; i < policy->n_profiles; i++) {
        const struct bs_fuzz_profile *profile = &policy->profiles[i];
        if (profile->read.n == 0)
            warn(w, "empty-read", profile->place, profile->of_workspace, false);
        warn_vain(w, &profile->read);
        warn_vain(w, &profile->modify);
        warn_under(w, &profile->read, &policy->deny_read, false);
        warn_under(w, &profile->modify, &policy->deny_modify, w->has_exceptions);
        warn_unreadable(w, profile);
    }
}

void bs_fuzz_judge(const struct bs_fuzz_node *global, const struct bs_fuzz_node *workspace,
                   struct bs_fuzz_pool *pool, struct bs_fuzz_verdict *verdict) {
    *verdict = (struct bs_fuzz_verdict){.problems = NULL};
    struct bs_fuzz_file first = {.pool = pool, .problems = &verdict->problems};
    struct bs_fuzz_file second = {
        .pool = pool, .problems = &verdict->problems, .of_workspace = true};
    bs_fuzz_shape_read(&first, global);
    judge_file(&first, NULL);
    if (workspace != NULL) {
        bs_fuzz_shape_read(&second, workspace);
        judge_file(&second, &first);
    }
    if (verdict->problems != NULL)
        return;
    verdict->policy = workspace != NULL ? merge(pool, &first.policy, &second.policy) : first.policy;
    struct warner w = {pool, verdict, false};
    for (size_t i = 0; i < verdict->policy.deny_modify.n; i++)
        w.has_exceptions = w.has_exceptions || verdict->policy.deny_modify.items[i].negated;
    warn_all(&w, &verdict->policy);
}
