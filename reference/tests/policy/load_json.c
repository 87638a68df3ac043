#define _GNU_SOURCE
#include "policy/loading.h"

static const char full[] =
    "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"b\"}"
    ","
    "\"annotations\":{}},\"spec\":{\"description\":\"d\\u00e9\\n\",\"denyRead\":[\"k/**\"],"
    "\"denyModify\":[\"k/**\",\"s/**\",\"!s/x\"],\"fsProfiles\":{\"p\":{\"read\":[\"./**\"],"
    "\"modify\":[\"src/**\",\"!src/a\"]}}}}";

static void a_full_policy_is_read(void **state) {
    (void)state;
    struct loaded loaded = load_json(full);
    assert_int_equal(loaded.code, BS_OK);
    assert_string_equal(bs_policy_name(loaded.policy), "n");
    assert_string_equal(bs_policy_description(loaded.policy), "d\xC3\xA9\n");
    assert_string_equal(loaded.policy->labels.items[0].value, "b");
    assert_int_equal(loaded.policy->deny_read.n, 1);
    assert_true(loaded.policy->deny_modify.items[2].negated);
    const struct bs_profile_rules *profile = bs_policy_profile(loaded.policy, "p");
    assert_non_null(profile);
    assert_string_equal(profile->read.items[0].body, "**");
    assert_true(profile->modify.items[1].negated);
    assert_int_equal(profile->modify.items[1].line, 1);
    assert_null(bs_policy_profile(loaded.policy, "q"));
    unload(&loaded);
}

static void every_prefix_is_refused_with_a_place_inside_it(void **state) {
    (void)state;
    for (size_t len = 0; len + 1 < sizeof full; len++) {
        struct loaded loaded = load_bytes(BS_POLICY_JSON, full, len);
        assert_int_equal(loaded.code, BS_E_INVALID);
        assert_int_equal(loaded.report.n_problems, 1);
        assert_int_equal(loaded.report.problems[0].line, 1);
        assert_in_range(loaded.report.problems[0].column, 1, len + 1);
        unload(&loaded);
    }
    assert_says(load_json("[1 2]"), "comma or ]");
}

static void invalid_json_is_refused_with_its_place(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"", "1:1 \n"},
                                          {"\n\n x", "3:2 \n"},
                                          {"\r\n\rx", "3:1 \n"},
                                          {"{\"a\":1,}", "1:8 \n"},
                                          {"[01]", "1:3 \n"},
                                          {"{} {}", "1:4 \n"},
                                          {"[\"\xC3\xA9\xC3\xA9\", x]", "1:8 \n"},
                                          {"\"\\u0000\"", "1:2 \n"},
                                          {"\"\\ud800\"", "1:2 \n"},
                                          {"\"\xC0\x80\"", "1:2 \n"},
                                          {"\xEF\xBB\xBF{}", "1:1 \n"},
                                          {"\xFF\xFE{\0}", "1:1 \n"},
                                          {"// x", "1:1 \n"},
                                          {"\"a\nb\"", "1:3 \n"},
                                          {"[1.]", "1:4 \n"},
                                          {"[NaN]", "1:2 \n"},
                                          {"['a']", "1:2 \n"}};
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_problems(load_json(rows[i][0]), rows[i][1]);
    assert_problems(load_bytes(BS_POLICY_JSON, "{}\0", 3), "1:3 \n");
}

static void places_are_lines_and_code_points(void **state) {
    (void)state;
    assert_problems(
        load_json("{\"schemaVersion\":2,\r\n\"kind\":\"Policy\",\r\"metadata\":\n"
                  "{\"name\":\"t\"},\n\n \"spec\":{\"denyRead\":[\"\xC3\xA9\xF0\x9F\x98\x80"
                  "\", 1, \"\\u00e9\", \"..\"]}}"),
        "6:28 /spec/denyRead/1\n6:41 /spec/denyRead/3\n");
}

static struct loaded nested(enum bs_policy_format format, size_t levels) {
    char text[512] = "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"t\"},"
                     "\"spec\":{},\"x\":";
    size_t start = strlen(text);
    memset(text + start, '[', levels - 1);
    memset(text + start + levels - 1, ']', levels - 1);
    text[start + 2 * (levels - 1)] = '}';
    return load_bytes(format, text, strlen(text));
}

static void sixty_four_levels_pass_the_parser(void **state) {
    (void)state;
    assert_problems(nested(BS_POLICY_JSON, 64), "1:70 /x\n");
    assert_problems(nested(BS_POLICY_JSON, 65), "1:137 \n");
}

/* Make a valid policy of exactly `size` bytes. */
static char *sized(size_t size) {
    static const char head[] = SPEC("\"description\":\"");
    size_t used = sizeof head - 3; /* length without the closing brackets and the NUL */
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, head, used);
    text[size - 3] = '"';
    text[size - 2] = text[size - 1] = '}';
    return text;
}

static void four_mebibytes_are_accepted_and_one_byte_more_is_refused(void **state) {
    (void)state;
    char *text = sized(BS_POLICY_MOST_BYTES + 1);
    struct loaded loaded = load_bytes(BS_POLICY_JSON, text, BS_POLICY_MOST_BYTES + 1);
    assert_says(loaded, "4 MiB");
    free(text);
    text = sized(BS_POLICY_MOST_BYTES);
    assert_loads(load_bytes(BS_POLICY_JSON, text, BS_POLICY_MOST_BYTES));
    free(text);
}

static void hostile_texts_cost_milliseconds(void **state) {
    (void)state;
    enum { MANY = 100000 };
    char *text = malloc(20 * MANY);
    assert_non_null(text);
    memset(text, '[', MANY);
    double start = spent_ms();
    assert_problems(load_bytes(BS_POLICY_JSON, text, MANY), "1:65 \n");
    assert_true(spent_ms() - start < 50);
    /* Many keys occur, each twice. The time for finding and for reporting them must not be
     * quadratic. */
    char *end = stpcpy(text, "{\"schemaVersion\":2,\"kind\":\"Policy\"");
    for (int i = 0; i < MANY; i++)
        end += sprintf(end, ",\"%d\":0", i % (MANY / 2));
    *end++ = '}';
    start = spent_ms();
    struct loaded loaded = load_bytes(BS_POLICY_JSON, text, (size_t)(end - text));
    assert_true(spent_ms() - start < 1000);
    /* The problems are unknown keys, repeated keys, and two missing fields. */
    assert_int_equal(loaded.report.n_problems, MANY + 2);
    unload(&loaded);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_policy_is_read),
        cmocka_unit_test(every_prefix_is_refused_with_a_place_inside_it),
        cmocka_unit_test(invalid_json_is_refused_with_its_place),
        cmocka_unit_test(places_are_lines_and_code_points),
        cmocka_unit_test(sixty_four_levels_pass_the_parser),
        cmocka_unit_test(four_mebibytes_are_accepted_and_one_byte_more_is_refused),
        cmocka_unit_test(hostile_texts_cost_milliseconds),
    };
    return cmocka_run_group_tests_name("policy/load: JSON", tests, NULL, NULL);
}
