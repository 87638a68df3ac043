#define _GNU_SOURCE
#include "policy/file/yaml.h"
#include "policy/loading.h"

static const char full[] =
    "%YAML 1.2\n---\nschemaVersion: 2 # two\nkind: Policy\nmetadata: {name: n}\n"
    "spec:\n  description: |\n    one\n    two\n  denyRead:\n  - 'k/**'\n"
    "  denyModify: [\"k/**\", s/**, '!s/x']\n  fsProfiles:\n    p:\n"
    "      read: [./**]\n      modify:\n        - \"src/**\"\n"
    "        - '!src/a'\n...\n";

/* Load a policy in which `value` is in the place of a rule, at line 5, column 12. */
static struct loaded with_rule(const char *value) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "schemaVersion: 2\nkind: Policy\nmetadata: {name: n}\nspec:\n  denyRead: [%s]\n",
                   value);
    return load_yaml(text);
}

static void a_full_policy_is_read(void **state) {
    (void)state;
    struct loaded loaded = load_yaml(full);
    if (loaded.code != BS_OK)
        fail_msg("%s", loaded.err.message);
    assert_string_equal(bs_policy_description(loaded.policy), "one\ntwo\n");
    const struct bs_profile_rules *profile = bs_policy_profile(loaded.policy, "p");
    assert_string_equal(profile->read.items[0].body, "**");
    assert_true(profile->modify.items[1].negated);
    assert_int_equal(profile->modify.items[1].line, 18);
    assert_int_equal(profile->modify.items[1].column, 11);
    unload(&loaded);
}

static void no_prefix_is_accepted_as_another_policy(void **state) {
    (void)state;
    for (size_t len = 0; len + 1 < sizeof full; len++) {
        struct loaded loaded = load_bytes(BS_POLICY_YAML, full, len);
        for (size_t i = 0; i < loaded.report.n_problems; i++)
            assert_in_range(loaded.report.problems[i].line, 1, 20);
        unload(&loaded);
    }
}

static void scalars_that_begin_with_a_sigil_need_quotes(void **state) {
    (void)state;
    static const char *const rows[] = {"!x", "! x", "!",    "*x",      "**/x",
                                       "*",  "&x",  "&x y", "!!str x", "!<x> y",
                                       "@x", "`x",  "%x",   "! 'x'",   "! [x]"};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct loaded loaded = with_rule(rows[i]);
        assert_int_equal(loaded.report.n_problems, 1);
        assert_int_equal(loaded.report.problems[0].line, 5);
        if (loaded.report.problems[0].column != 14)
            fail_msg("`%s`: column %u", rows[i], loaded.report.problems[0].column);
        assert_says(loaded, "quote it");
    }
    /* The column is also correct after characters of several bytes. */
    assert_problems(with_rule("\"\xC3\xA9\xE2\x82\xAC\", ! x"), "5:20 \n");
}

/* A scalar without escapes is not copied: it stays a part of the text. The position of this part is
 * guessed first, and characters of several bytes can make the guess wrong. */
static void escapes_and_wide_characters_do_not_shift_texts(void **state) {
    (void)state;
    static const char text[] =
        "schemaVersion: 2\nkind: Policy\nmetadata: {name: n} # \u20ac\u20ac\n"
        "spec:\n  denyRead:\n"
        "    - \"\u00e9/1\"\n"
        "    - '2'\n"
        "    - \"\\u00e9/3\" # \U0001F600\n"
        "    - '4''4'\n"
        "    - \u20ac/5\n"
        "    - \"6\\\n      6\"\n"
        "    - 7/\u00e9\n"
        "    - >-\n      8\n"
        "    - \"\\x39\"\n"
        "    - a # 'a'\n"
        "    - \"\"\n";
    static const char *const bodies[] = {"\u00e9/1", "2",        "\u00e9/3", "4'4", "\u20ac/5",
                                         "66",       "7/\u00e9", "8",        "9",   "a"};
    struct loaded loaded =
        load_bytes(BS_POLICY_YAML, text, sizeof text - 1 - strlen("    - \"\"\n"));
    if (loaded.code != BS_OK)
        fail_msg("%s", loaded.err.message);
    assert_int_equal(loaded.policy->deny_read.n, LENGTH(bodies));
    for (size_t i = 0; i < LENGTH(bodies); i++)
        assert_string_equal(loaded.policy->deny_read.items[i].body, bodies[i]);
    unload(&loaded);
    assert_says(load_yaml(text), "a rule cannot be empty");
    /* the decoded value is longer than the rest of the text */
    assert_loads(with_rule("\"\\P\\P\\P\\P\""));
}

static void only_strings_are_strings(void **state) {
    (void)state;
    static const char *const others[] = {"1", "true", "null", "~", "1.5", "0x1f", "{a: b}", "[a]"};
    for (size_t i = 0; i < LENGTH(others); i++)
        assert_says(with_rule(others[i]), "quote it");
    static const char *const strings[] = {"yes", "off",      "1:2",     "0o8",   "1e", "x",
                                          "'1'", "\"null\"", "a: b, c", "1_000", "=",  "."};
    for (size_t i = 0; i < LENGTH(strings); i++) {
        struct loaded loaded = with_rule(strings[i]);
        if (loaded.report.n_problems > 0 && i != 8)
            fail_msg("`%s`: %s", strings[i], loaded.err.message);
        unload(&loaded);
    }
}

static void plain_scalars_mean_what_the_core_schema_says(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum bs_node_kind kind;
    } rows[] = {{"", BS_NODE_NULL},        {"~", BS_NODE_NULL},       {"Null", BS_NODE_NULL},
                {"nULL", BS_NODE_STRING},  {"True", BS_NODE_BOOLEAN}, {"tRUE", BS_NODE_STRING},
                {"y", BS_NODE_STRING},     {"0", BS_NODE_INTEGER},    {"-12", BS_NODE_INTEGER},
                {"+007", BS_NODE_INTEGER}, {"0o17", BS_NODE_INTEGER}, {"0o8", BS_NODE_STRING},
                {"0xFf", BS_NODE_INTEGER}, {"-0x1", BS_NODE_STRING},  {"0x", BS_NODE_STRING},
                {"1.", BS_NODE_REAL},      {".5", BS_NODE_REAL},      {"-.5e3", BS_NODE_REAL},
                {"1e3", BS_NODE_REAL},     {"1e", BS_NODE_STRING},    {".", BS_NODE_STRING},
                {"-", BS_NODE_STRING},     {"+.inf", BS_NODE_REAL},   {".NaN", BS_NODE_REAL},
                {"+.nan", BS_NODE_STRING}, {"0b1", BS_NODE_STRING},   {"12:30", BS_NODE_STRING},
                {"1e+5", BS_NODE_REAL},    {"e5", BS_NODE_STRING},    {"..", BS_NODE_STRING}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (bs_plain_scalar_kind(rows[i].text, strlen(rows[i].text)) != rows[i].kind)
            fail_msg("`%s`", rows[i].text);
    }
}

static void yaml_features_that_policies_do_not_need_are_refused(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"", "1:1 \n"},
                                          {"# x\n", "2:1 \n"},
                                          {"a: 1\n---\nb: 2\n", "2:1 \n"},
                                          {"a: 1\n...\n---\n", "3:1 \n"},
                                          {"%TAG ! x\n---\na: 1", "1:1 \n"},
                                          {"a: &x 1\nb: *x", "1:4 \n"},
                                          {"<<: {a: 1}", "1:1 \n"},
                                          {"1: a", "1:1 \n"},
                                          {"? [a]\n: b", "1:3 \n"},
                                          {"{a: b}: c", "1:1 \n"},
                                          {"~: a", "1:1 \n"},
                                          {"a: [1", "1:6 \n"},
                                          {"a: \"\\0\"", "1:4 \n"},
                                          {"a: \xC2\x85", "1:4 \n"},
                                          {"a:\n - \"\xE2\x80\xA8\"", "2:5 \n"},
                                          {"a: \x01", "1:4 \n"},
                                          {"a: \x7F", "1:4 \n"},
                                          {"\xEF\xBB\xBF"
                                           "a: 1",
                                           "1:1 \n"},
                                          {"a: \xFF", "1:4 \n"},
                                          {"a: b\n\tc: d", "2:1 \n"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct loaded loaded = load_yaml(rows[i][0]);
        if (loaded.report.n_problems != 1)
            fail_msg("`%s`: %zu problems", rows[i][0], loaded.report.n_problems);
        assert_problems(loaded, rows[i][1]);
    }
    assert_problems(load_bytes(BS_POLICY_YAML, "a: \0", 4), "1:4 \n");
}

static void versions_are_integers_of_the_core_schema(void **state) {
    (void)state;
    static const char *const good[] = {"2", "+2", "0x2", "0o2", "02"};
    static const char *const bad[] = {"'2'", "2.0", "\"2\"", "two", "1", "3", "-2", ""};
    char text[256];
    static const char rest[] = "\nkind: Policy\nmetadata: {name: n}\nspec: {}\n";
    for (size_t i = 0; i < LENGTH(good); i++) {
        (void)snprintf(text, sizeof text, "schemaVersion: %s%s", good[i], rest);
        assert_loads(load_yaml(text));
    }
    for (size_t i = 0; i < LENGTH(bad); i++) {
        (void)snprintf(text, sizeof text, "schemaVersion: %s%s", bad[i], rest);
        struct loaded loaded = load_yaml(text);
        assert_int_equal(loaded.report.n_problems, 1);
        assert_string_equal(loaded.report.problems[0].pointer, "/schemaVersion");
        unload(&loaded);
    }
    /* Leading zeros have no effect, however many there are. The number may even have more digits
     * than any integer type can hold. */
    (void)snprintf(text, sizeof text, "schemaVersion: 0x%0100d%s", 2, rest);
    assert_loads(load_yaml(text));
    (void)snprintf(text, sizeof text, "schemaVersion: +%0100d%s", 2, rest);
    assert_loads(load_yaml(text));
    (void)snprintf(text, sizeof text, "schemaVersion: 2%0100d%s", 2, rest);
    assert_says(load_yaml(text), "unsupported policy schemaVersion 2000");
}

static void depth_ends_at_sixty_four(void **state) {
    (void)state;
    char text[256];
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    assert_problems(load_bytes(BS_POLICY_YAML, text + 1, 128), "1:1 \n");
    assert_says(load_bytes(BS_POLICY_YAML, text + 1, 128), "mapping");
    assert_problems(load_bytes(BS_POLICY_YAML, text, 130), "1:65 \n");
}

/* libyaml takes quadratic time for deep nesting, so these texts must be refused before they are
 * parsed. */
static void hostile_texts_cost_milliseconds(void **state) {
    (void)state;
    static const char *const units[] = {
        "[",   "{",     "- ",  "? ",   "[[\n",  "{a: ", "!x ", "&a ",
        "\"a", "- -\n", "[a,", "? - ", "---\n", "'",    "a: ", "|\n"};
    char *text = malloc(BS_POLICY_MOST_BYTES);
    assert_non_null(text);
    for (size_t i = 0; i < LENGTH(units); i++) {
        size_t len = 0;
        for (size_t unit = strlen(units[i]); len + unit <= BS_POLICY_MOST_BYTES / 8; len += unit)
            memcpy(text + len, units[i], unit);
        double start = spent_ms();
        struct loaded loaded = load_bytes(BS_POLICY_YAML, text, len);
        assert_int_equal(loaded.code, BS_E_INVALID);
        unload(&loaded);
        if (spent_ms() - start > 1000)
            fail_msg("`%s`: %f ms", units[i], spent_ms() - start);
    }
    free(text);
}

static void four_mebibytes_are_accepted_and_one_byte_more_is_refused(void **state) {
    (void)state;
    static const char head[] = "schemaVersion: 2\nkind: Policy\nmetadata: {name: n}\nspec: {}\n#";
    char *text = malloc(BS_POLICY_MOST_BYTES + 1);
    assert_non_null(text);
    memset(text, 'x', BS_POLICY_MOST_BYTES + 1);
    memcpy(text, head, sizeof head - 1);
    assert_loads(load_bytes(BS_POLICY_YAML, text, BS_POLICY_MOST_BYTES));
    assert_says(load_bytes(BS_POLICY_YAML, text, BS_POLICY_MOST_BYTES + 1), "4 MiB");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_policy_is_read),
        cmocka_unit_test(no_prefix_is_accepted_as_another_policy),
        cmocka_unit_test(scalars_that_begin_with_a_sigil_need_quotes),
        cmocka_unit_test(escapes_and_wide_characters_do_not_shift_texts),
        cmocka_unit_test(only_strings_are_strings),
        cmocka_unit_test(plain_scalars_mean_what_the_core_schema_says),
        cmocka_unit_test(yaml_features_that_policies_do_not_need_are_refused),
        cmocka_unit_test(versions_are_integers_of_the_core_schema),
        cmocka_unit_test(depth_ends_at_sixty_four),
        cmocka_unit_test(hostile_texts_cost_milliseconds),
        cmocka_unit_test(four_mebibytes_are_accepted_and_one_byte_more_is_refused),
    };
    return cmocka_run_group_tests_name("policy/load: YAML", tests, NULL, NULL);
}
