#define _GNU_SOURCE
#include "policy/loading.h"

static struct bs_bytes printed(const struct bs_policy *policy, enum bs_policy_format format) {
    struct bs_bytes out = BS_BYTES_INIT;
    assert_int_equal(bs_policy_print(policy, format, &out, NULL), BS_OK);
    return out;
}

static void assert_same_rules(const struct bs_rules *a, const struct bs_rules *b) {
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->items[i].body, b->items[i].body);
        assert_int_equal(a->items[i].negated, b->items[i].negated);
    }
}

static void assert_same_pairs(const struct bs_pairs *a, const struct bs_pairs *b) {
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->items[i].name, b->items[i].name);
        assert_string_equal(a->items[i].value, b->items[i].value);
    }
}

static void assert_same(const struct bs_policy *a, const struct bs_policy *b) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->description == NULL, b->description == NULL);
    if (a->description != NULL)
        assert_string_equal(a->description, b->description);
    assert_same_pairs(&a->labels, &b->labels);
    assert_same_pairs(&a->annotations, &b->annotations);
    assert_same_rules(&a->deny_read, &b->deny_read);
    assert_same_rules(&a->deny_modify, &b->deny_modify);
    assert_int_equal(a->n_profiles, b->n_profiles);
    for (size_t i = 0; i < a->n_profiles; i++) {
        assert_string_equal(a->profiles[i].name, b->profiles[i].name);
        assert_same_rules(&a->profiles[i].read, &b->profiles[i].read);
        assert_same_rules(&a->profiles[i].modify, &b->profiles[i].modify);
    }
}

/* Check a round trip in both formats: printing and loading must give the same policy, and printing
 * that policy must give the same text. */
static void assert_round_trip(const char *text) {
    struct loaded first = load_json(text);
    if (first.code != BS_OK)
        fail_msg("%s", first.err.message);
    for (int format = BS_POLICY_JSON; format <= BS_POLICY_YAML; format++) {
        struct bs_bytes once = printed(first.policy, (enum bs_policy_format)format);
        struct loaded second = load_bytes((enum bs_policy_format)format, once.data, once.len);
        if (second.code != BS_OK)
            fail_msg("%s\n%s", second.err.message, once.data);
        assert_same(first.policy, second.policy);
        struct bs_bytes twice = printed(second.policy, (enum bs_policy_format)format);
        assert_string_equal(once.data, twice.data);
        bs_bytes_clear(&once);
        bs_bytes_clear(&twice);
        unload(&second);
    }
    unload(&first);
}

static void a_policy_is_printed_in_normal_form(void **state) {
    (void)state;
    struct loaded loaded = load_json(SPEC("\"description\":\"d\",\"denyRead\":[\"k/**\"],"
                                          "\"fsProfiles\":{\"p\":{\"read\":[\"./**\",\"!k\"]}}"));
    struct bs_bytes out = printed(loaded.policy, BS_POLICY_YAML);
    assert_string_equal(out.data,
                        "schemaVersion: 2\nkind: Policy\nmetadata:\n  name: \"t\"\nspec:\n"
                        "  description: \"d\"\n  denyRead:\n    - \"k/**\"\n"
                        "  denyModify: []\n  fsProfiles:\n    \"p\":\n      read:\n"
                        "        - \"**\"\n        - \"!k\"\n      modify: []\n");
    bs_bytes_clear(&out);
    out = printed(loaded.policy, BS_POLICY_JSON);
    assert_string_equal(
        out.data, "{\n  \"schemaVersion\": 2,\n  \"kind\": \"Policy\",\n  \"metadata\": {\n"
                  "    \"name\": \"t\"\n  },\n  \"spec\": {\n    \"description\": \"d\",\n"
                  "    \"denyRead\": [\n      \"k/**\"\n    ],\n    \"denyModify\": [],\n"
                  "    \"fsProfiles\": {\n      \"p\": {\n        \"read\": [\n          \"**\",\n"
                  "          \"!k\"\n        ],\n        \"modify\": []\n      }\n    }\n  }\n}\n");
    bs_bytes_clear(&out);
    unload(&loaded);
}

static void a_printed_policy_is_loaded_unchanged(void **state) {
    (void)state;
    assert_round_trip(SPEC(""));
    assert_round_trip(
        SPEC("\"denyModify\":[\"a/**\",\"!a/b\",\"./!x\",\"./ y\",\"z /\"],"
             "\"fsProfiles\":{\"\\u00e9: #\":{\"read\":[\"!./!x\",\"! ./ q\",\"./**\"]},"
             "\"null\":{\"modify\":[]},\"~\":{},\"<<\":{},\"1\":{}}"));
    assert_round_trip(
        "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"-\","
        "\"labels\":{\"\":\"\",\"true\":\"no\"},\"annotations\":{\"a\\nb\":\"\\t\\u0001 "
        "\\\"\\\\ \"}},\"spec\":{\"description\":\" \\r\\n \"}}");
}

static void every_kind_of_character_survives(void **state) {
    (void)state;
    assert_round_trip(
        SPEC("\"description\":\"\\u0001\\u001f\\u007f\\u0080\\u0085\\u009f\\u00a0\\u2027"
             "\\u2028\\u2029\\u202a\\ufeff\\ufffd\\ufffe\\uffff\\ud83d\\ude00\""));
}

static void keys_longer_than_yamls_look_ahead_survive(void **state) {
    (void)state;
    enum { LONG = 3000 };
    char text[LONG + 300] = SPEC("");
    size_t head = strlen(text) - 2;
    char *end = text + head;
    end = stpcpy(end, "\"fsProfiles\":{\"");
    memset(end, 'n', LONG);
    (void)stpcpy(end + LONG, "\":{\"read\":[\"x\"]},\"after\":{}}}}");
    assert_round_trip(text);
}

static void a_merged_policy_is_printed_as_one(void **state) {
    (void)state;
    struct loaded merged = load_both(SPEC("\"denyModify\":[\"a/**\",\"!a/b\"]"),
                                     SPEC("\"denyModify\":[\"c\",\"!a/b\"]"));
    assert_int_equal(merged.code, BS_OK);
    struct bs_bytes out = printed(merged.policy, BS_POLICY_JSON);
    struct loaded again = load_json(out.data);
    assert_int_equal(again.code, BS_OK);
    assert_same(merged.policy, again.policy);
    bs_bytes_clear(&out);
    unload(&again);
    unload(&merged);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_is_printed_in_normal_form),
        cmocka_unit_test(a_printed_policy_is_loaded_unchanged),
        cmocka_unit_test(every_kind_of_character_survives),
        cmocka_unit_test(keys_longer_than_yamls_look_ahead_survive),
        cmocka_unit_test(a_merged_policy_is_printed_as_one),
    };
    return cmocka_run_group_tests_name("policy/print", tests, NULL, NULL);
}
