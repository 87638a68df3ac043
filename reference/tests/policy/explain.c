/* Tests that an explanation agrees with the decision, for every way in which decisions are made. */
#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <stdlib.h>
#include <string.h>

#include "support/harness.h"
#include "support/profiles.h"

static struct bs_explanation explained;

static const struct bs_explanation *explain(const struct bs_profile *profile, enum bs_op op,
                                            const char *path) {
    struct bs_error err = BS_ERROR_INIT;
    if (bs_profile_explain(profile, op, path, strlen(path), &explained, &err) != BS_OK)
        fail_msg("`%s`: %s", path, err.message);
    return &explained;
}

static void assert_entry(size_t i, const char *rule, enum bs_entry_origin origin,
                         enum bs_policy_source source, bool matched, bool deciding) {
    assert_true(i < explained.n_entries);
    const struct bs_explained *one = &explained.entries[i];
    assert_string_equal(one->entry->rule, rule);
    assert_int_equal(one->entry->origin, origin);
    assert_int_equal(one->entry->source, source);
    assert_int_equal(one->entry->line > 0, source != BS_SYNTHESIZED);
    assert_int_equal(one->matched, matched);
    assert_int_equal(one->deciding, deciding);
}

static void every_entry_has_its_origin(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("'denyModify':['a/**','!a/b/**'],"
                                            "'fsProfiles':{'p':{'read':['**'],"
                                            "'modify':['a/b/c','!**/*.o']}}",
                                            "'denyModify':['x']", "p", 0);
    assert_true(explain(profile, BS_OP_MODIFY, "a/b/c")->decision.allowed);
    assert_int_equal(explained.n_entries, 5);
    assert_entry(0, "a/b/c", BS_ENTRY_PROFILE, BS_FROM_GLOBAL, true, true);
    assert_entry(1, "**/*.o", BS_ENTRY_PROFILE, BS_FROM_GLOBAL, false, false);
    assert_entry(2, "a/**", BS_ENTRY_DENY_MODIFY, BS_FROM_GLOBAL, true, false);
    assert_entry(3, "a/b/**", BS_ENTRY_EXCEPTION, BS_FROM_GLOBAL, true, false);
    assert_entry(4, "x", BS_ENTRY_DENY_MODIFY, BS_FROM_WORKSPACE, false, false);
    bs_explanation_clear(&explained);
    assert_false(explain(profile, BS_OP_MODIFY, "x")->decision.allowed);
    assert_entry(4, "x", BS_ENTRY_DENY_MODIFY, BS_FROM_WORKSPACE, true, true);
    bs_explanation_clear(&explained);
    bs_explanation_clear(&explained);
    bs_profile_free(profile);
}

static void a_synthesised_rule_has_no_file(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("'denyRead':['k']", NULL, NULL, 0);
    (void)explain(profile, BS_OP_READ, "a");
    assert_entry(0, "**", BS_ENTRY_PROFILE, BS_SYNTHESIZED, true, true);
    assert_entry(1, "k", BS_ENTRY_DENY_READ, BS_FROM_GLOBAL, false, false);
    bs_explanation_clear(&explained);
    bs_profile_free(profile);
}

static void no_entry_decides_if_none_matches(void **state) {
    (void)state;
    struct bs_profile *profile =
        profile_of("'fsProfiles':{'p':{'read':['a'],'modify':[]}}", NULL, "p", 0);
    (void)explain(profile, BS_OP_READ, "b");
    assert_entry(0, "a", BS_ENTRY_PROFILE, BS_FROM_GLOBAL, false, false);
    bs_explanation_clear(&explained);
    assert_int_equal(explain(profile, BS_OP_MODIFY, "b")->n_entries, 0);
    bs_explanation_clear(&explained);
    bs_profile_free(profile);
}

static void folded_rules_match_folded_paths(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("'denyRead':['K\xC3\x84']", NULL, NULL, BS_FOLD);
    assert_false(explain(profile, BS_OP_READ, "ka\xCC\x88")->decision.allowed);
    assert_entry(1, "K\xC3\x84", BS_ENTRY_DENY_READ, BS_FROM_GLOBAL, true, true);
    bs_explanation_clear(&explained);
    bs_profile_free(profile);
}

static void a_refused_path_is_an_error_here_too(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("", NULL, NULL, 0);
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(bs_profile_explain(profile, BS_OP_READ, "/a", 2, &explained, &err),
                     BS_E_INVALID);
    assert_true(err.message[0] != '\0');
    bs_profile_free(profile);
}

/* Return the rule that decides. It is found by the text of the contract, from the matches in the
 * explanation. */
static const char *decided_by_hand(const struct bs_explanation *one, bool *allowed) {
    bool own = false;
    *allowed = false;
    for (size_t i = one->n_entries; i > 0; i--) {
        const struct bs_explained *entry = &one->entries[i - 1];
        if (!entry->matched || (own && entry->entry->origin != BS_ENTRY_PROFILE))
            continue;
        if (entry->entry->origin == BS_ENTRY_EXCEPTION) {
            own = true;
            continue;
        }
        *allowed = !entry->entry->negated;
        return entry->entry->rule;
    }
    return NULL;
}

static void explaining_and_checking_agree(void **state) {
    (void)state;
    static const char *const paths[] = {".",      "a",       "b",     "a/b", "a/b/c", "a/x.o",
                                        "s/t/u",  "s/key",   "s/t/v", "x.o", "!x",    "a/b/x.o",
                                        "s/deep", "s/t/u/w", "q?",    "ab",  "a/b/k", "z"};
    static const char spec[] =
        "'denyRead':['**/key','s/**'],"
        "'denyModify':['a/**','!a/b/**','a/b/k','**/*.o','!a/b/x.o','s/t/**','!s/t/u'],"
        "'fsProfiles':{'p':{'read':['**','!b','./!x','s?*'],"
        "'modify':['a/b/c','!**/x.*','s/t/u','?','**b']}}";
    for (unsigned fold = 0; fold < 2; fold++) {
        struct bs_profile *profile = profile_of(spec, NULL, "p", fold * BS_FOLD);
        for (size_t i = 0; i < LENGTH(paths) * 2; i++) {
            bool allowed = false;
            size_t deciding = 0;
            const struct bs_explanation *one =
                explain(profile, i % 2 == 0 ? BS_OP_READ : BS_OP_MODIFY, paths[i / 2]);
            const char *rule = decided_by_hand(one, &allowed);
            assert_int_equal(one->decision.allowed, allowed);
            assert_string_equal(one->decision.matched_rule,
                                rule != NULL ? rule : BS_NO_MATCHING_RULE);
            for (size_t j = 0; j < one->n_entries; j++) {
                if (one->entries[j].deciding) {
                    deciding++;
                    assert_true(one->entries[j].matched);
                    assert_ptr_equal(one->entries[j].entry->rule, rule);
                }
            }
            assert_int_equal(deciding, rule != NULL);
            bs_explanation_clear(&explained);
        }
        bs_profile_free(profile);
    }
}

static void a_rule_too_long_for_an_automaton_is_explained(void **state) {
    (void)state;
    enum { LEN = 200000 };
    static const char head[] = "'denyRead':['";
    char *spec = malloc(sizeof head + LEN + 2);
    assert_non_null(spec);
    memcpy(spec, head, sizeof head);
    memset(spec + sizeof head - 1, 'a', LEN);
    memcpy(spec + sizeof head - 1 + LEN, "']", 3);
    struct bs_profile *profile = profile_of(spec, NULL, NULL, 0);
    spec[sizeof head - 1 + LEN] = '\0';
    assert_false(explain(profile, BS_OP_READ, spec + sizeof head - 1)->decision.allowed);
    assert_true(explained.entries[1].deciding && explained.entries[1].matched);
    bs_explanation_clear(&explained);
    assert_true(explain(profile, BS_OP_READ, "a")->decision.allowed);
    assert_false(explained.entries[1].matched);
    bs_explanation_clear(&explained);
    bs_profile_free(profile);
    free(spec);
}

static void an_audit_event_agrees_with_check(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("'denyRead':['a\\\\nb']", NULL, NULL, 0);
    struct bs_decision decision;
    struct bs_bytes event = BS_BYTES_INIT;
    struct timespec when = {1792929600, 123999999};
    assert_int_equal(bs_profile_check(profile, BS_OP_READ, "a\"\n", 3, &decision, NULL), BS_OK);
    assert_int_equal(bs_audit_event(profile, BS_OP_READ, &decision, when, &event, NULL), BS_OK);
    assert_string_equal(event.data,
                        "{\"time\":\"2026-10-25T12:00:00.123Z\",\"profile\":\"unrestricted\","
                        "\"profile_origin\":\"synthesized\",\"op\":\"read\",\"path\":\"a\\\"\\n\","
                        "\"allowed\":true,\"matched_rule\":\"**\"}");
    assert_int_equal(event.len, strlen(event.data));
    bs_bytes_clear(&event);
    bs_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_entry_has_its_origin),
        cmocka_unit_test(a_synthesised_rule_has_no_file),
        cmocka_unit_test(no_entry_decides_if_none_matches),
        cmocka_unit_test(folded_rules_match_folded_paths),
        cmocka_unit_test(a_refused_path_is_an_error_here_too),
        cmocka_unit_test(explaining_and_checking_agree),
        cmocka_unit_test(a_rule_too_long_for_an_automaton_is_explained),
        cmocka_unit_test(an_audit_event_agrees_with_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
