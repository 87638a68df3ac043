/* Tests remedies by applying them. The changed policy must load and must allow the path. */
#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/harness.h"
#include "support/profiles.h"

enum { MOST_RULES = 12 };

struct rules {
    const char *items[MOST_RULES];
    size_t n;
};

/* A policy, and a workspace policy that adds denies, as lists that the test can edit. */
struct model {
    struct rules read;
    struct rules modify;
    struct rules deny_read;
    struct rules deny_modify;
    struct rules workspace;
};

static void put_rules(char *out, size_t size, const char *name, const struct rules *rules) {
    size_t used = strlen(out);
    used += (size_t)snprintf(out + used, size - used, "%s'%s':[", used > 0 ? "," : "", name);
    for (size_t i = 0; i < rules->n; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s'%s'", i > 0 ? "," : "", rules->items[i]);
    (void)snprintf(out + used, size - used, "]");
}

static void put_model(const struct model *model, char *global, char *workspace, size_t size) {
    char lists[1024] = "";
    global[0] = workspace[0] = '\0';
    put_rules(global, size, "denyRead", &model->deny_read);
    put_rules(global, size, "denyModify", &model->deny_modify);
    put_rules(lists, sizeof lists, "read", &model->read);
    put_rules(lists, sizeof lists, "modify", &model->modify);
    size_t used = strlen(global);
    (void)snprintf(global + used, size - used, ",'fsProfiles':{'p':{%s}}", lists);
    put_rules(workspace, size, "denyModify", &model->workspace);
}

/* Return the profile, or NULL if the policy cannot be loaded. */
static struct bs_profile *load(const struct model *model) {
    char specs[2][2048];
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_policy *policy = NULL;
    struct bs_profile *profile = NULL;
    put_model(model, specs[0], specs[1], sizeof specs[0]);
    char *texts[2] = {policy_text(specs[0]), policy_text(specs[1])};
    struct bs_policy_text global = {texts[0], strlen(texts[0]), BS_POLICY_JSON};
    struct bs_policy_text over = {texts[1], strlen(texts[1]), BS_POLICY_JSON};
    if (bs_policy_load(&global, &over, &policy, &report, NULL) == BS_OK)
        assert_int_equal(bs_profile_compile(policy, "p", 0, &profile, NULL), BS_OK);
    bs_policy_free(policy);
    bs_policy_report_clear(&report);
    free(texts[0]);
    free(texts[1]);
    return profile;
}

static void remove_at(struct rules *rules, size_t at) {
    assert_true(at < rules->n);
    memmove(rules->items + at, rules->items + at + 1, (--rules->n - at) * sizeof *rules->items);
}

static void remove_entry(struct model *model, const struct bs_profile *profile, enum bs_op op,
                         const struct bs_entry *entry, struct bs_remedy *later) {
    size_t n = 0;
    const struct bs_entry *entries = bs_profile_entries(profile, op, &n);
    size_t at = (size_t)(entry - entries);
    struct rules *own = op == BS_OP_READ ? &model->read : &model->modify;
    struct rules *denies = op == BS_OP_READ ? &model->deny_read : &model->deny_modify;
    /* Remove the entries one by one. Each removal shifts the indices of later entries, so count the
     * entries that were removed before. */
    size_t before = 0;
    for (size_t i = 0; i < later->n_changes; i++)
        before += later->changes[i].entry < entry;
    size_t gone_own = 0;
    size_t gone_denies = 0;
    for (size_t i = 0; i < later->n_changes; i++) {
        size_t other = (size_t)(later->changes[i].entry - entries);
        gone_own += entries[other].origin == BS_ENTRY_PROFILE;
        gone_denies +=
            entries[other].origin != BS_ENTRY_PROFILE && entries[other].source == BS_FROM_GLOBAL;
    }
    size_t n_own = own->n + gone_own;
    size_t n_denies = denies->n + gone_denies;
    size_t position = at;
    if (at < n_own)
        remove_at(own, position - before);
    else if (at < n_own + n_denies)
        remove_at(denies, position - n_own - (before > gone_own ? before - gone_own : 0));
    else
        model->workspace.n = 0; /* In these models a workspace has at most one rule of this kind. */
    later->changes[later->n_changes++].entry = entry;
}

static struct model carry_out(const struct model *model, const struct bs_profile *profile,
                              const struct bs_remedy *remedy, const char *rule,
                              const char *exception) {
    struct model changed = *model;
    struct bs_remedy removed = {.n_changes = 0};
    for (size_t i = 0; i < remedy->n_changes; i++) {
        const struct bs_change *change = &remedy->changes[i];
        if (change->kind == BS_REMOVE_ENTRY)
            remove_entry(&changed, profile, change->op, change->entry, &removed);
    }
    for (size_t i = 0; i < remedy->n_changes; i++) {
        const struct bs_change *change = &remedy->changes[i];
        struct rules *own = change->op == BS_OP_READ ? &changed.read : &changed.modify;
        if (change->kind == BS_ADD_RULE)
            own->items[own->n++] = rule;
        else if (change->kind == BS_ADD_EXCEPTION && change->source == BS_FROM_GLOBAL)
            changed.deny_modify.items[changed.deny_modify.n++] = exception;
        else if (change->kind == BS_ADD_EXCEPTION)
            changed.workspace.items[changed.workspace.n++] = exception;
    }
    return changed;
}

static bool allows(const struct model *model, enum bs_op op, const char *path) {
    struct bs_profile *profile = load(model);
    struct bs_decision decision;
    bool allowed = profile != NULL &&
                   bs_profile_check(profile, op, path, strlen(path), &decision, NULL) == BS_OK &&
                   decision.allowed;
    bs_profile_free(profile);
    return allowed;
}

/* Return the number of remedies. Each of them must work, and all must have the same size, which is
 * written to *size. */
static size_t remedies_of(const struct model *model, enum bs_op op, const char *path,
                          size_t *size) {
    struct bs_profile *profile = load(model);
    struct bs_why_not why_not;
    char exception[64];
    assert_non_null(profile);
    assert_int_equal(bs_profile_why_not(profile, op, path, strlen(path), &why_not, NULL), BS_OK);
    (void)snprintf(exception, sizeof exception, "!%s", why_not.rule.data);
    *size = 0;
    for (size_t i = 0; i < why_not.n_remedies; i++) {
        struct model changed =
            carry_out(model, profile, &why_not.remedies[i], why_not.rule.data, exception);
        if (!allows(&changed, op, path))
            fail_msg("%s: remedy %zu of %zu does not help", path, i + 1, why_not.n_remedies);
        assert_true(i == 0 || why_not.remedies[i].n_changes == *size);
        *size = why_not.remedies[i].n_changes;
    }
    size_t n = why_not.n_remedies;
    assert_true(n == 0 || !why_not.decision.allowed);
    bs_why_not_clear(&why_not);
    bs_why_not_clear(&why_not);
    bs_profile_free(profile);
    return n;
}

static void assert_remedies(const struct model *model, enum bs_op op, const char *path, size_t n,
                            size_t size) {
    size_t got_size = 0;
    size_t got = remedies_of(model, op, path, &got_size);
    if (got != n || got_size != size)
        fail_msg("%s: %zu remedies of %zu changes, not %zu of %zu", path, got, got_size, n, size);
}

static void an_allowed_path_needs_no_remedy(void **state) {
    (void)state;
    static const struct model model = {.read = {{"**"}, 1}};
    assert_remedies(&model, BS_OP_READ, "a", 0, 0);
}

static void a_rule_is_added_if_none_matches(void **state) {
    (void)state;
    static const struct model model = {.read = {{"src/**"}, 1}, .modify = {{"src/a"}, 1}};
    assert_remedies(&model, BS_OP_READ, "docs/x", 1, 1);
    assert_remedies(&model, BS_OP_MODIFY, "src/b", 1, 1);
    /* A read rule must be added too, because a path that may be modified must be readable. */
    assert_remedies(&model, BS_OP_MODIFY, "docs/x", 1, 2);
    assert_remedies(&model, BS_OP_READ, "!x", 1, 1);
}

static void a_negation_is_removed_or_overridden(void **state) {
    (void)state;
    static const struct model model = {.read = {{"**", "!a/**", "!a/b"}, 3}};
    assert_remedies(&model, BS_OP_READ, "a/x", 2, 1);
    assert_remedies(&model, BS_OP_READ, "a/b", 1, 1);
}

static void a_deny_is_removed_or_gets_an_exception(void **state) {
    (void)state;
    static const struct model model = {.read = {{"**"}, 1},
                                       .modify = {{"**"}, 1},
                                       .deny_read = {{"k"}, 1},
                                       .deny_modify = {{"s/**", "s/x"}, 2}};
    assert_remedies(&model, BS_OP_READ, "k", 1, 1);
    assert_remedies(&model, BS_OP_MODIFY, "s/y", 2, 1);
    /* one exception after both denies is enough */
    assert_remedies(&model, BS_OP_MODIFY, "s/x", 1, 1);
    assert_remedies(&model, BS_OP_MODIFY, "s", 2, 1);
}

static void a_remedy_leaves_a_policy_that_loads(void **state) {
    (void)state;
    /* If the deny is removed, its exception lies in no deny any more, so the exception must be
     * removed too. */
    static const struct model model = {
        .read = {{"**"}, 1}, .modify = {{"**"}, 1}, .deny_modify = {{"s/**", "!s/t/**"}, 2}};
    assert_remedies(&model, BS_OP_MODIFY, "s/x", 1, 1);
    assert_remedies(&model, BS_OP_MODIFY, "s/x?", 1, 2);
    /* A rule of a profile must not equal a deny. A path with a wildcard character cannot become an
     * exception. */
    static const struct model equal = {.read = {{"src/**"}, 1}, .deny_read = {{"k"}, 1}};
    assert_remedies(&equal, BS_OP_READ, "k", 1, 2);
    static const struct model wild = {
        .read = {{"**"}, 1}, .modify = {{"**"}, 1}, .deny_modify = {{"s/**"}, 1}};
    assert_remedies(&wild, BS_OP_MODIFY, "s/a*", 1, 1);
}

static void a_workspace_gets_no_exceptions_of_its_own(void **state) {
    (void)state;
    static const struct model model = {.read = {{"**"}, 1},
                                       .modify = {{"**"}, 1},
                                       .deny_modify = {{"s/**", "!s/t/**"}, 2},
                                       .workspace = {{"**/*.o"}, 1}};
    assert_remedies(&model, BS_OP_MODIFY, "a.o", 1, 1);
    assert_remedies(&model, BS_OP_MODIFY, "s/t/a.o", 2, 1);
}

static void no_remedy_is_reported_if_too_many_changes_are_needed(void **state) {
    (void)state;
    static const struct model model = {.read = {{"**"}, 1},
                                       .deny_read = {{"a", "?", "*", "a**", "**a", "**/a"}, 6}};
    assert_remedies(&model, BS_OP_READ, "a", 0, 0);
}

/* The policies are all combinations of a few rules. If removing one entry is enough, no remedy may
 * be larger. */
static void no_remedy_is_larger_than_it_has_to_be(void **state) {
    (void)state;
    static const char *const own[] = {"a", "!a", "a/**", "!**"};
    static const char *const denies[] = {"a/**", "a/b", "?/b", "!a/b"};
    static const char *const paths[] = {"a", "a/b", "c"};
    for (unsigned mask = 0; mask < 256; mask++) {
        struct model model = {.read = {{"**"}, 1}};
        for (unsigned bit = 0; bit < 4; bit++) {
            if ((mask >> bit & 1) != 0)
                model.modify.items[model.modify.n++] = own[bit];
            if ((mask >> (bit + 4) & 1) != 0)
                model.deny_modify.items[model.deny_modify.n++] = denies[bit];
        }
        struct bs_profile *profile = load(&model);
        bs_profile_free(profile);
        for (size_t i = 0; i < LENGTH(paths) && profile != NULL; i++) {
            size_t size = 0;
            bool one_helps = false;
            if (allows(&model, BS_OP_MODIFY, paths[i]))
                continue;
            if (remedies_of(&model, BS_OP_MODIFY, paths[i], &size) == 0)
                fail_msg("%s: no remedy in policy %x", paths[i], mask);
            for (size_t j = 0; j < model.modify.n + model.deny_modify.n; j++) {
                struct model less = model;
                remove_at(j < model.modify.n ? &less.modify : &less.deny_modify,
                          j < model.modify.n ? j : j - model.modify.n);
                one_helps |= allows(&less, BS_OP_MODIFY, paths[i]);
            }
            assert_true(!one_helps || size == 1);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allowed_path_needs_no_remedy),
        cmocka_unit_test(a_rule_is_added_if_none_matches),
        cmocka_unit_test(a_negation_is_removed_or_overridden),
        cmocka_unit_test(a_deny_is_removed_or_gets_an_exception),
        cmocka_unit_test(a_remedy_leaves_a_policy_that_loads),
        cmocka_unit_test(a_workspace_gets_no_exceptions_of_its_own),
        cmocka_unit_test(no_remedy_is_reported_if_too_many_changes_are_needed),
        cmocka_unit_test(no_remedy_is_larger_than_it_has_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
