#define _GNU_SOURCE
#include "policy/loading.h"

#define PROFILE(read, modify) "\"fsProfiles\":{\"p\":{\"read\":[" read "],\"modify\":[" modify "]}}"

static void a_sound_policy_has_no_warning(void **state) {
    (void)state;
    assert_warnings(
        load_json(SPEC("\"denyRead\":[\"k/**\"],\"denyModify\":[\"k/**\",\"s/**\"]," PROFILE(
            "\"./**\",\"!k/a\"", "\"src/**\",\"!s/b\""))),
        "");
}

static void a_rule_with_outer_blanks_gets_a_warning(void **state) {
    (void)state;
    assert_warnings(
        load_json(SPEC("\"denyModify\":[\"x/ /\"]," PROFILE("\"./ a\",\"**\",\"! b\"", ""))),
        "1:82 /spec/denyModify/0 matches-nothing\n"
        "1:117 /spec/fsProfiles/p/read/0 matches-nothing\n");
}

static void a_rule_with_a_separator_at_its_end_gets_a_warning(void **state) {
    (void)state;
    assert_warnings(
        load_json(SPEC("\"denyModify\":[\"d/\",\"d/**/\",\"x /\"]," PROFILE("\"**\"", "\"c/.\""))),
        "1:82 /spec/denyModify/0 nothing-below\n"
        "1:95 /spec/denyModify/2 matches-nothing\n"
        "1:145 /spec/fsProfiles/p/modify/0 nothing-below\n");
}

static void an_empty_read_list_gets_a_warning_at_the_profile(void **state) {
    (void)state;
    assert_warnings(load_json(SPEC("\"fsProfiles\":{\"p\":{},\"q\":{\"read\":[]}}")),
                    "1:82 /spec/fsProfiles/p empty-read\n1:89 /spec/fsProfiles/q empty-read\n");
}

static void a_rule_under_a_deny_of_its_kind_gets_a_warning(void **state) {
    (void)state;
    assert_warnings(load_json(SPEC("\"denyModify\":[\"a/**\"]," PROFILE(
                        "\"**\",\"a/b\"", "\"a/b\",\"a\",\"ab\",\"!a/c\""))),
                    "1:139 /spec/fsProfiles/p/modify/0 under-deny\n"
                    "1:145 /spec/fsProfiles/p/modify/1 under-deny\n");
}

static void an_exception_makes_a_rule_under_a_deny_useful(void **state) {
    (void)state;
    assert_warnings(load_json(SPEC("\"denyModify\":[\"a/**\",\"!a/b/**\"]," PROFILE(
                        "\"**\"", "\"a/b/**\",\"a/b/c\",\"a\",\"a/d/**\""))),
                    "1:160 /spec/fsProfiles/p/modify/2 under-deny\n"
                    "1:164 /spec/fsProfiles/p/modify/3 under-deny\n");
    /* The exception is narrower than the rule. In the sorted list it lies between names that begin
     * with the same letters. */
    assert_warnings(load_json(SPEC("\"denyModify\":[\"**\",\"!a-b\",\"!a/b/c\",\"!a.b\"]," PROFILE(
                        "\"./**\"", "\"a/**\",\"a/b/**\",\"a-/**\""))),
                    "1:172 /spec/fsProfiles/p/modify/2 under-deny\n");
}

static void a_later_negated_read_gets_a_warning(void **state) {
    (void)state;
    assert_warnings(load_json(SPEC(PROFILE("\"a/**\",\"!a/b/**\"", "\"a/b\",\"a/c\",\"!a/b/x\""))),
                    "1:123 /spec/fsProfiles/p/modify/0 modify-under-negated-read\n");
    assert_warnings(load_json(SPEC(PROFILE("\"!a/b/**\",\"a/**\"", "\"a/b\""))), "");
    assert_warnings(load_json(SPEC(PROFILE("\"a/**\",\"!a/b\",\"a/b\"", "\"a/b\""))), "");
}

static void a_read_deny_without_a_modify_deny_gets_a_warning(void **state) {
    (void)state;
    assert_warnings(load_json(SPEC("\"denyRead\":[\"a/b\",\"c\",\"d/**\"],\"denyModify\":[\"a/**\","
                                   "\"d/**\",\"!d/c\"]")),
                    "1:86 /spec/denyRead/1 read-deny-without-modify-deny\n");
}

static void warnings_of_two_files_name_theirs(void **state) {
    (void)state;
    assert_warnings(load_both(SPEC("\"denyRead\":[\"a\"]"),
                              SPEC("\"denyRead\":[\"b\",\"c\"],\"denyModify\":[\"c\"]")),
                    "1:80 /spec/denyRead/0 read-deny-without-modify-deny\n"
                    "workspace 1:80 /spec/denyRead/0 read-deny-without-modify-deny\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_policy_has_no_warning),
        cmocka_unit_test(a_rule_with_outer_blanks_gets_a_warning),
        cmocka_unit_test(a_rule_with_a_separator_at_its_end_gets_a_warning),
        cmocka_unit_test(an_empty_read_list_gets_a_warning_at_the_profile),
        cmocka_unit_test(a_rule_under_a_deny_of_its_kind_gets_a_warning),
        cmocka_unit_test(an_exception_makes_a_rule_under_a_deny_useful),
        cmocka_unit_test(a_later_negated_read_gets_a_warning),
        cmocka_unit_test(a_read_deny_without_a_modify_deny_gets_a_warning),
        cmocka_unit_test(warnings_of_two_files_name_theirs),
    };
    return cmocka_run_group_tests_name("policy/warn", tests, NULL, NULL);
}
