/* Makes each allocation of loading fail once. The allocations of cJSON are included through its
 * hooks. Those of libyaml are not included. */
#define _GNU_SOURCE
#include <cjson/cJSON.h>

#include "policy/loading.h"
#include "support/allocations.h"

static int hook_cjson(void **state) {
    (void)state;
    cJSON_Hooks hooks = {__wrap_malloc, __wrap_free};
    cJSON_InitHooks(&hooks);
    return 0;
}

struct attempt {
    struct bs_policy_text global;
    const struct bs_policy_text *workspace;
};

static int load_once(const void *context, struct bs_error *err) {
    const struct attempt *attempt = context;
    struct bs_policy *policy = NULL;
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    int code = bs_policy_load(&attempt->global, attempt->workspace, &policy, &report, err);
    if (code == BS_E_EXECUTION) {
        assert_null(policy);
        assert_null(report.arena);
    }
    if (code == BS_OK) {
        struct bs_bytes out = BS_BYTES_INIT;
        int printed = bs_policy_print(policy, BS_POLICY_YAML, &out, err);
        assert_int_equal(printed == BS_OK, out.data != NULL);
        code = printed;
        bs_bytes_clear(&out);
    }
    bs_policy_report_clear(&report);
    bs_policy_free(policy);
    return code;
}

static int migrate_once(const void *context, struct bs_error *err) {
    const struct attempt *attempt = context;
    struct bs_bytes out = BS_BYTES_INIT;
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    int code = bs_policy_migrate(&attempt->global, &out, &report, err);
    assert_int_equal(code == BS_OK, out.data != NULL);
    bs_bytes_clear(&out);
    bs_policy_report_clear(&report);
    return code;
}

static struct bs_policy_text text_of(enum bs_policy_format format, const char *text) {
    return (struct bs_policy_text){text, strlen(text), format};
}

static const char full[] =
    "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"b\"}"
    "},"
    "\"spec\":{\"description\":\"d\\u00e9\",\"denyRead\":[\"q/**\"],\"denyModify\":[\"k/**\",\"**/"
    "x\","
    "\"!k/a\",\"!a/x\"],\"fsProfiles\":{\"p\":{\"read\":[\"a/**\",\"!a/b\"],\"modify\":[\"a/b\","
    "\"!src/a\"]},\"q\":{}}}}";

static void a_json_file(void **state) {
    (void)state;
    struct attempt attempt = {text_of(BS_POLICY_JSON, full), NULL};
    each_allocation_fails(load_once, &attempt, BS_OK, 3);
}

static void a_yaml_file(void **state) {
    (void)state;
    struct attempt attempt = {text_of(BS_POLICY_YAML, full), NULL};
    each_allocation_fails(load_once, &attempt, BS_OK, 3);
}

static void a_policy_and_a_workspace(void **state) {
    (void)state;
    struct bs_policy_text over = text_of(
        BS_POLICY_JSON, SPEC("\"denyRead\":[\"x\"],\"denyModify\":[\"z\",\"!k/a\"],\"fsProfiles\":"
                             "{\"q\":{\"read\":[\"a\"]},\"r\":{}}"));
    struct attempt attempt = {text_of(BS_POLICY_JSON, full), &over};
    each_allocation_fails(load_once, &attempt, BS_OK, 3);
}

static void a_file_with_problems(void **state) {
    (void)state;
    struct attempt attempt = {
        text_of(BS_POLICY_JSON,
                "{\"schemaVersion\":2,\"kind\":\"Policy\",\"a\":1,\"b\":2,\"c\":1,\"d\":1,\"e\":1,"
                "\"f\":1,\"f\":{\"x\":1,\"x\":2},\"g\":1.5,\"h\":12345678901234567890}"),
        NULL};
    each_allocation_fails(load_once, &attempt, BS_E_INVALID, 3);
}

static void a_file_with_a_syntax_error(void **state) {
    (void)state;
    struct attempt attempt = {text_of(BS_POLICY_YAML, "a: [*x"), NULL};
    each_allocation_fails(load_once, &attempt, BS_E_INVALID, 2);
}

static void a_file_of_another_version(void **state) {
    (void)state;
    struct attempt attempt = {text_of(BS_POLICY_JSON, "{\"schemaVersion\":7,\"kind\":\"Policy\"}"),
                              NULL};
    each_allocation_fails(load_once, &attempt, BS_E_INVALID, 2);
}

static void a_migration(void **state) {
    (void)state;
    struct attempt attempt = {
        text_of(
            BS_POLICY_JSON,
            "{\"schemaVersion\":1,\"allow\":[\"a\",\"b\",\"/\"],\"deny\":[\"a\",\"c\"],\"write\":"
            "[\"w\"],\"profiles\":{\"p\":{\"read\":[\"x\"],\"write\":[\"x\",\"y\"]}},\"k\":1,\"k\":"
            "2}"),
        NULL};
    each_allocation_fails(migrate_once, &attempt, BS_OK, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_json_file),
        cmocka_unit_test(a_yaml_file),
        cmocka_unit_test(a_policy_and_a_workspace),
        cmocka_unit_test(a_file_with_problems),
        cmocka_unit_test(a_file_with_a_syntax_error),
        cmocka_unit_test(a_file_of_another_version),
        cmocka_unit_test(a_migration),
    };
    return cmocka_run_group_tests_name("policy/load: out of memory", tests, hook_cjson, NULL);
}
