#define _GNU_SOURCE
#include "policy/loading.h"

struct migrated {
    struct bs_bytes draft;
    struct loaded loaded;
};

/* Migrate a policy, and check that the draft is a valid policy of version 2. */
static struct migrated migrate(enum bs_policy_format format, const char *text) {
    struct migrated migrated = {.draft = BS_BYTES_INIT};
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    size_t len = strlen(text);
    char *copy = exact_copy(text, len);
    struct bs_policy_text v1 = {copy, len, format};
    int code = bs_policy_migrate(&v1, &migrated.draft, &report, &err);
    free(copy);
    bs_policy_report_clear(&report);
    if (code != BS_OK)
        fail_msg("%s", err.message);
    migrated.loaded = load_bytes(BS_POLICY_YAML, migrated.draft.data, migrated.draft.len);
    if (migrated.loaded.code != BS_OK)
        fail_msg("%s\n%s", migrated.loaded.err.message, migrated.draft.data);
    return migrated;
}

static void forget(struct migrated *migrated) {
    bs_bytes_clear(&migrated->draft);
    unload(&migrated->loaded);
}

static void assert_notes(const struct migrated *migrated, const char *words) {
    if (strstr(migrated->draft.data, words) == NULL)
        fail_msg("`%s` is not in\n%s", words, migrated->draft.data);
}

static void top_level_lists_become_a_profile_and_denies(void **state) {
    (void)state;
    struct migrated m = migrate(BS_POLICY_JSON, "{\"schemaVersion\":1,\"name\":\"old\",\"allow\":"
                                                "[\"src/\"],\"deny\":[\"k/**\"]}");
    const struct bs_policy *policy = m.loaded.policy;
    assert_string_equal(policy->name, "old");
    const struct bs_profile_rules *profile = bs_policy_profile(policy, "default");
    assert_string_equal(profile->read.items[0].body, "src");
    assert_string_equal(profile->modify.items[0].body, "src");
    assert_string_equal(policy->deny_read.items[0].body, "k/**");
    assert_string_equal(policy->deny_modify.items[0].body, "k/**");
    forget(&m);
}

static void split_lists_and_profiles_keep_their_meaning(void **state) {
    (void)state;
    struct migrated m = migrate(
        BS_POLICY_YAML, "schemaVersion: 1\nkind: Policy\nmetadata: {name: m}\nspec:\n"
                        "  description: d\n  deny: {read: [a], write: [b]}\n"
                        "  profiles:\n    p: {read: [x/**], write: [x/y, z]}\n    default: {}\n"
                        "  allow: [q]\n");
    const struct bs_policy *policy = m.loaded.policy;
    assert_string_equal(policy->deny_read.items[0].body, "a");
    assert_string_equal(policy->deny_modify.items[0].body, "b");
    const struct bs_profile_rules *profile = bs_policy_profile(policy, "p");
    assert_int_equal(profile->modify.n, 2);
    /* `z` may be modified, so it must be readable as well. */
    assert_string_equal(profile->read.items[1].body, "z");
    assert_notes(&m, "\"z\"  -- added to `read`");
    assert_non_null(bs_policy_profile(policy, "version 1"));
    forget(&m);
}

static void parts_that_version_2_does_not_have_become_comments(void **state) {
    (void)state;
    struct migrated m = migrate(
        BS_POLICY_JSON, "{\"schemaVersion\":1,\"allow\":[\"/abs\",3,\"k\"],\"deny\":[\"!x\",\"k\"],"
                        "\"mode\":{\"strict\":[true,null,\"a\\nb\"]},\"name\":\"n n\",\"name\":1}");
    assert_notes(&m, "#   \"allow\": \"/abs\"  -- ");
    assert_notes(&m, "#   \"allow\": 3  -- no rule");
    assert_notes(&m, "#   \"k\"  -- left out of `read`");
    assert_notes(&m, "#   \"deny\": \"!x\"  -- ");
    assert_notes(&m, "#   \"mode\": {\"strict\": [true, null, \"a\\u000ab\"]}");
    assert_notes(&m, "#   \"name\": \"n n\"");
    assert_notes(&m, "#   \"/name\"  -- is there twice");
    assert_string_equal(bs_policy_name(m.loaded.policy), "migrated");
    forget(&m);
}

static void only_version_1_is_migrated(void **state) {
    (void)state;
    static const char *const texts[] = {"{\"schemaVersion\":2}", "{}", "[1]", "1", "{"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct bs_bytes out = BS_BYTES_INIT;
        struct bs_policy_report report = BS_POLICY_REPORT_INIT;
        struct bs_policy_text text = {texts[i], strlen(texts[i]), BS_POLICY_JSON};
        struct bs_error err = BS_ERROR_INIT;
        assert_int_equal(bs_policy_migrate(&text, &out, &report, &err), BS_E_INVALID);
        assert_int_equal(report.n_problems, 1);
        assert_null(out.data);
        assert_true(strlen(err.message) > 0);
        bs_policy_report_clear(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_level_lists_become_a_profile_and_denies),
        cmocka_unit_test(split_lists_and_profiles_keep_their_meaning),
        cmocka_unit_test(parts_that_version_2_does_not_have_become_comments),
        cmocka_unit_test(only_version_1_is_migrated),
    };
    return cmocka_run_group_tests_name("policy/migrate", tests, NULL, NULL);
}
