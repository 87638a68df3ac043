#define _GNU_SOURCE
#include "policy/file/problems.h"

#include "base/arena.h"
#include "policy/loading.h"

static void all_problems_are_reported_in_the_order_of_the_file(void **state) {
    (void)state;
    assert_problems(load_json("{\"spec\":{\"fsProfiles\":{\"p\":{\"modify\":[\"a\"],\"more\":1}},\n"
                              "\"denyRead\":[\"!a\",\"/x\",null]},\"metadata\":{\"labels\":[]},\n"
                              "\"kind\":\"Policy\",\"schemaVersion\":2,\"extra\":{}}"),
                    "1:39 /spec/fsProfiles/p/modify/0\n"
                    "1:44 /spec/fsProfiles/p/more\n"
                    "2:13 /spec/denyRead/0\n"
                    "2:18 /spec/denyRead/1\n"
                    "2:23 /spec/denyRead/2\n"
                    "2:41 /metadata\n"
                    "2:51 /metadata/labels\n"
                    "3:35 /extra\n");
}

static void pointers_escape_what_rfc_6901_escapes(void **state) {
    (void)state;
    assert_problems(load_json(SPEC("\"a/b~c\":1,\"~1\":1,\"\":1,\"\xC3\xA9\":1")),
                    "1:68 /spec/a~1b~0c\n1:78 /spec/~01\n1:85 /spec/\n1:90 /spec/\xC3\xA9\n");
}

static void a_repeated_key_is_reported_once(void **state) {
    (void)state;
    assert_problems(
        load_json("{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"t\","
                  "\"n\\u0061me\":1},\n\"spec\":{\"x\":1,\"x\":2,\"x\":3},\"spec\":0}"),
        "1:59 /metadata/name\n2:9 /spec/x\n2:15 /spec/x\n2:21 /spec/x\n2:28 /spec\n");
    /* A repeated key is reported even if it is inside an unknown field. */
    assert_problems(
        load_json("{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"t\"},"
                  "\"spec\":{},\"z\":[{\"a\":{\"b\":1,\"b\":1}}]}"),
        "1:70 /z\n1:87 /z/0/a/b\n");
}

static void repeated_keys_are_found_among_twenty(void **state) {
    (void)state;
    assert_problems(
        load_json(
            "{\"schemaVersion\":2,\"kind\":\"Policy\",\"spec\":{},\"metadata\":{\"name\":\"t\","
            "\"labels\":{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\",\"e\":\"\",\"f\":\"\","
            "\"g\":\"\",\"h\":\"\",\"i\":\"\",\"j\":\"\",\n\"e\":\"\",\"k\":\"\",\"a\":\"\"}}}"),
        "2:1 /metadata/labels/e\n2:15 /metadata/labels/a\n");
}

static void a_wrong_version_or_kind_is_the_only_problem(void **state) {
    (void)state;
    assert_problems(load_json("{\"spec\":1,\"x\":2}"), "1:1 \n1:1 \n");
    assert_problems(load_json("{\"kind\":\"policy\",\"schemaVersion\":3,\"x\":0}"),
                    "1:9 /kind\n1:34 /schemaVersion\n");
    assert_problems(load_json("{\"kind\":7,\"schemaVersion\":2.0,\"x\":0}"),
                    "1:9 /kind\n1:27 /schemaVersion\n");
    assert_problems(load_json("[]"), "1:1 \n");
    assert_problems(load_json("null"), "1:1 \n");
}

static void version_1_gets_only_the_migration_message(void **state) {
    (void)state;
    static const char text[] = "{\"schemaVersion\":1,\"allow\":[\"/\"]}";
    assert_problems(load_json(text), "1:18 /schemaVersion\n");
    assert_says(load_json(text), "spec.denyRead");
    assert_says(load_json(text), "spec.denyModify");
    assert_says(load_json(text), "spec.fsProfiles");
}

static void other_versions_are_named(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"3", "schemaVersion 3"},
        {"0", "schemaVersion 0"},
        {"-0", "schemaVersion 0"},
        {"-1", "schemaVersion -1"},
        {"9007199254740993", "schemaVersion 9007199254740993"},
        {"99999999999999999999999", "schemaVersion 99999999999999999999999"}};
    char text[128];
    for (size_t i = 0; i < LENGTH(rows); i++) {
        (void)snprintf(text, sizeof text, "{\"kind\":\"Policy\",\"schemaVersion\":%s}", rows[i][0]);
        assert_says(load_json(text), rows[i][1]);
    }
}

static void names_and_labels_are_checked(void **state) {
    (void)state;
    assert_problems(load_json("{\"schemaVersion\":2,\"kind\":\"Policy\",\"spec\":{},\n"
                              "\"metadata\":{\"name\":\"a b\",\"labels\":{\"a\":1},"
                              "\"annotations\":{\"\":\"\"}}}"),
                    "2:20 /metadata/name\n2:40 /metadata/labels/a\n");
    char name[80] = "";
    memset(name, 'n', 64);
    char text[256];
    for (int more = 0; more < 2; more++) {
        name[63 + more] = 'n';
        (void)snprintf(text, sizeof text,
                       "{\"schemaVersion\":2,\"kind\":\"Policy\",\"spec\":{},\"metadata\":"
                       "{\"name\":\"%s\"}}",
                       name);
        struct loaded loaded = load_json(text);
        assert_int_equal(loaded.report.n_problems, more);
        unload(&loaded);
    }
}

static void the_error_names_the_first_problem(void **state) {
    (void)state;
    struct loaded loaded = load_json("{\"kind\":\"Policy\",\n\"schemaVersion\":\"2\"}");
    assert_non_null(strstr(loaded.err.message, "line 2, column 17, /schemaVersion"));
    unload(&loaded);
}

static void long_pointers_are_complete(void **state) {
    (void)state;
    struct bs_problems problems = {0};
    char name[3000];
    memset(name, '/', sizeof name);
    struct bs_pointer outer = {NULL, name, sizeof name, 0};
    struct bs_pointer item = {&outer, NULL, 0, 18446744073709551615U};
    bs_problems_add(&problems, (struct bs_place){1, 1}, &item, NULL, "x");
    assert_int_equal(strlen(problems.items[0].pointer), 1 + 2 * sizeof name + 1 + 20);
    bs_problems_clear(&problems);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_problems_are_reported_in_the_order_of_the_file),
        cmocka_unit_test(pointers_escape_what_rfc_6901_escapes),
        cmocka_unit_test(a_repeated_key_is_reported_once),
        cmocka_unit_test(repeated_keys_are_found_among_twenty),
        cmocka_unit_test(a_wrong_version_or_kind_is_the_only_problem),
        cmocka_unit_test(version_1_gets_only_the_migration_message),
        cmocka_unit_test(other_versions_are_named),
        cmocka_unit_test(names_and_labels_are_checked),
        cmocka_unit_test(the_error_names_the_first_problem),
        cmocka_unit_test(long_pointers_are_complete),
    };
    return cmocka_run_group_tests_name("policy/problems", tests, NULL, NULL);
}
