#define _GNU_SOURCE
#include "policy/loading.h"

#define PROFILE(name, read) "\"" name "\":{\"read\":[" read "]}"

static void a_workspace_profile_replaces_the_whole_global_one(void **state) {
    (void)state;
    struct loaded loaded = load_both(
        SPEC("\"fsProfiles\":{" PROFILE("a", "\"x\"") "," PROFILE("b", "\"y\",\"z\"") "}"),
        SPEC("\"fsProfiles\":{" PROFILE("c", "\"u\"") "," PROFILE("b", "\"v\"") "}"));
    assert_int_equal(loaded.code, BS_OK);
    assert_int_equal(loaded.policy->n_profiles, 3);
    assert_string_equal(bs_policy_profile(loaded.policy, "a")->read.items[0].body, "x");
    const struct bs_profile_rules *replaced = bs_policy_profile(loaded.policy, "b");
    assert_int_equal(replaced->read.n, 1);
    assert_int_equal(replaced->source, BS_FROM_WORKSPACE);
    assert_non_null(bs_policy_profile(loaded.policy, "c"));
    unload(&loaded);
}

static void the_workspaces_metadata_counts(void **state) {
    (void)state;
    static const char labelled[] = "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{"
                                   "\"name\":\"l\",\"labels\":{\"k\":\"l\"}},"
                                   "\"spec\":{\"description\":\"l\"}}";
    static const char annotated[] =
        "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"a\",\"annotations\":"
        "{\"k\":\"a\"}},\"spec\":{}}";
    const char *const pairs[][2] = {{labelled, annotated}, {annotated, labelled}};
    for (size_t i = 0; i < LENGTH(pairs); i++) {
        struct loaded loaded = load_both(pairs[i][0], pairs[i][1]);
        assert_int_equal(loaded.code, BS_OK);
        assert_string_equal(loaded.policy->name, i == 0 ? "a" : "l");
        assert_string_equal(loaded.policy->description, "l");
        assert_int_equal(loaded.policy->labels.n, 1);
        assert_int_equal(loaded.policy->annotations.n, 1);
        unload(&loaded);
    }
}

static void denies_of_both_files_are_kept(void **state) {
    (void)state;
    struct loaded loaded =
        load_both(SPEC("\"denyRead\":[\"r\"],\"denyModify\":[\"a/**\",\"!a/b\"]"),
                  SPEC("\"denyRead\":[\"r\"],\"denyModify\":[\"a/**\",\"c\"]"));
    assert_int_equal(loaded.code, BS_OK);
    assert_int_equal(loaded.policy->deny_read.n, 2);
    const struct bs_rules *denies = &loaded.policy->deny_modify;
    assert_int_equal(denies->n, 4);
    assert_true(denies->items[1].negated);
    assert_string_equal(denies->items[2].body, "a/**");
    assert_int_equal(denies->items[2].source, BS_FROM_WORKSPACE);
    unload(&loaded);
}

static void an_exception_of_a_workspace_needs_a_global_one(void **state) {
    (void)state;
    static const char global[] = SPEC("\"denyModify\":[\"a/**\",\"!a/b/**\",\"!a/c\"]");
    assert_loads(
        load_both(global, SPEC("\"denyModify\":[\"!a/b/**\",\"!a/b\",\"!a/b/x/**\",\"!a/c\"]")));
    assert_problems(
        load_both(global, SPEC("\"denyModify\":[\"w/**\",\"!w/x\",\"!a/c/d\",\"!a/c/**\"]")),
        "workspace 1:89 /spec/denyModify/1\nworkspace 1:96 /spec/denyModify/2\n"
        "workspace 1:105 /spec/denyModify/3\n");
}

static void only_a_workspace_rule_that_equals_a_deny_is_an_error(void **state) {
    (void)state;
    assert_problems(
        load_both(SPEC("\"denyRead\":[\"k\"]"), SPEC("\"fsProfiles\":{" PROFILE("p", "\"k\"") "}")),
        "workspace 1:95 /spec/fsProfiles/p/read/0\n");
    assert_loads(load_both(SPEC("\"fsProfiles\":{" PROFILE("p", "\"k\"") "}"),
                           SPEC("\"denyRead\":[\"k\"]")));
}

static void the_name_is_the_workspaces_and_so_is_a_description(void **state) {
    (void)state;
    static const char other[] =
        "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"w\"},\"spec\":{}}";
    struct loaded loaded = load_both(SPEC("\"description\":\"g\""), other);
    assert_string_equal(bs_policy_name(loaded.policy), "w");
    assert_string_equal(bs_policy_description(loaded.policy), "g");
    unload(&loaded);
    loaded = load_both(SPEC("\"description\":\"g\""), SPEC("\"description\":\"\""));
    assert_string_equal(bs_policy_description(loaded.policy), "");
    unload(&loaded);
}

static void problems_of_both_files_are_reported_together(void **state) {
    (void)state;
    assert_problems(load_both("{", SPEC("\"denyRead\":[\"/\"],\"denyModify\":[\"!x\"]")),
                    "1:2 \nworkspace 1:80 /spec/denyRead/0\n");
    assert_problems(load_both(SPEC("\"x\":1"), "[1"), "1:68 /spec/x\nworkspace 1:3 \n");
    assert_problems(load_both(SPEC("\"denyRead\":[\"!a\"]"), SPEC("\"denyModify\":[\"!b\"]")),
                    "1:80 /spec/denyRead/0\nworkspace 1:82 /spec/denyModify/0\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_workspace_profile_replaces_the_whole_global_one),
        cmocka_unit_test(the_workspaces_metadata_counts),
        cmocka_unit_test(denies_of_both_files_are_kept),
        cmocka_unit_test(an_exception_of_a_workspace_needs_a_global_one),
        cmocka_unit_test(only_a_workspace_rule_that_equals_a_deny_is_an_error),
        cmocka_unit_test(the_name_is_the_workspaces_and_so_is_a_description),
        cmocka_unit_test(problems_of_both_files_are_reported_together),
    };
    return cmocka_run_group_tests_name("policy/merge", tests, NULL, NULL);
}
