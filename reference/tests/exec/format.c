#include <string.h>

#include <boxspec/exec.h>

#include "support/harness.h"

static void assert_formatted(const struct bs_env_pair *env, size_t n, const char *text) {
    struct bs_bytes out = BS_BYTES_INIT;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(bs_exec_format_env(BS_ENV_CLEAR_AND_SET, env, n, &out, &err), BS_OK);
    assert_int_equal(out.len, strlen(text));
    assert_string_equal(out.data, text);
    bs_bytes_clear(&out);
}

static void an_inherited_environment_is_one_word(void **state) {
    (void)state;
    static const struct bs_env_pair ignored[] = {{"MY_TOKEN", "hunter2"}};
    struct bs_bytes out = BS_BYTES_INIT;
    assert_int_equal(bs_exec_format_env(BS_ENV_INHERIT, ignored, 1, &out, NULL), BS_OK);
    assert_string_equal(out.data, "Inherit");
    bs_bytes_clear(&out);
}

static void pairs_keep_their_order(void **state) {
    (void)state;
    static const struct bs_env_pair env[] = {{"B", "2"}, {"A", "1"}, {"B", ""}};
    assert_formatted(NULL, 0, "ClearAndSet([])");
    assert_formatted(env, 1, "ClearAndSet([(\"B\", \"2\")])");
    assert_formatted(env, 3, "ClearAndSet([(\"B\", \"2\"), (\"A\", \"1\"), (\"B\", \"\")])");
}

static void values_of_sensitive_names_are_never_shown(void **state) {
    (void)state;
    static const struct bs_env_pair env[] = {
        {"MY_TOKEN", "hunter2"}, {"ssh_key", "x"}, {"AUTH", ""}, {"AUTHOR", "Ada"}};
    assert_formatted(env, 4,
                     "ClearAndSet([(\"MY_TOKEN\", \"[REDACTED]\"), (\"ssh_key\", \"[REDACTED]\"), "
                     "(\"AUTH\", \"[REDACTED]\"), (\"AUTHOR\", \"Ada\")])");
}

static void one_line_stays_one_line(void **state) {
    (void)state;
    static const struct bs_env_pair env[] = {{"A\"\\", "\n\r\t\x01\x1B\x7F"}};
    assert_formatted(env, 1, "ClearAndSet([(\"A\\\"\\\\\", \"\\n\\r\\t\\u{1}\\u{1b}\\u{7f}\")])");
}

static void invalid_utf8_becomes_valid_utf8(void **state) {
    (void)state;
    static const struct bs_env_pair env[] = {{"A", "\xC3\xA9\xFF"}, {"\xE2\x82", "1"}};
    assert_formatted(env, 2, "ClearAndSet([(\"A\", \"\u00e9\uFFFD\"), (\"\uFFFD\", \"1\")])");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_inherited_environment_is_one_word),
        cmocka_unit_test(pairs_keep_their_order),
        cmocka_unit_test(values_of_sensitive_names_are_never_shown),
        cmocka_unit_test(one_line_stays_one_line),
        cmocka_unit_test(invalid_utf8_becomes_valid_utf8),
    };
    return cmocka_run_group_tests_name("exec/format", tests, NULL, NULL);
}
