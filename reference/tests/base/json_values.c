#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "support/harness.h"

static cJSON *parsed(const char *text) {
    struct bs_json_error err = {0};
    cJSON *tree = bs_json_parse(text, strlen(text), &err);
    if (tree == NULL)
        fail_msg("`%s`: %s", text, err.message);
    return tree;
}

static void assert_bytes(const char *text, const char *bytes, size_t len) {
    cJSON *tree = parsed(text);
    bool is_string = false;
    size_t got_len = 0;
    char *got = bs_json_bytes(tree, &got_len, &is_string);
    assert_true(is_string);
    assert_non_null(got);
    assert_int_equal(got_len, len);
    assert_memory_equal(got, bytes, len + 1);
    free(got);
    cJSON_Delete(tree);
}

static void strings_are_exact_with_every_nul(void **state) {
    (void)state;
    assert_bytes("\"\"", "", 0);
    assert_bytes("\"\\u0000\"", "\0", 1);
    assert_bytes("\"a\\u0000b\\u0000\"", "a\0b\0", 4);
    assert_bytes("\"\\u0000\\u0000\\u0000\"", "\0\0\0", 3);
    assert_bytes("\"\\\\u0000\"", "\\u0000", 6);
    assert_bytes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    assert_bytes("\"\\u00e9\\u20ac\"", "\xC3\xA9\xE2\x82\xAC", 5);
    assert_bytes("\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80", 4);
    assert_bytes("\"\\ufeff\\uffff\"", "\xEF\xBB\xBF\xEF\xBF\xBF", 6);
    assert_bytes("\"9007199254740993\"", "9007199254740993", 16);
}

static void other_types_are_not_strings(void **state) {
    (void)state;
    static const char *const texts[] = {"null",  "1",  "1.0", "12345678901234567890",
                                        "1e999", "[]", "{}",  "true"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        cJSON *tree = parsed(texts[i]);
        bool is_string = true;
        size_t len = 0;
        assert_null(bs_json_bytes(tree, &len, &is_string));
        assert_false(is_string);
        cJSON_Delete(tree);
    }
}

static void integers_are_exact_up_to_the_last_bit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } rows[] = {{"0", 0},
                {"-0", 0},
                {"1", 1},
                {"4294967296", UINT64_C(4294967296)},
                {"999999999999999", UINT64_C(999999999999999)},
                {"1000000000000000", UINT64_C(1000000000000000)},
                {"9007199254740991", UINT64_C(9007199254740991)},
                {"9007199254740992", UINT64_C(9007199254740992)},
                {"9007199254740993", UINT64_C(9007199254740993)},
                {"9223372036854775807", UINT64_C(9223372036854775807)},
                {"9223372036854775808", UINT64_C(9223372036854775808)},
                {"18446744073709551614", UINT64_MAX - 1},
                {"18446744073709551615", UINT64_MAX}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        cJSON *tree = parsed(rows[i].text);
        uint64_t value = 42;
        assert_true(bs_json_u64(tree, &value));
        assert_true(value == rows[i].value);
        cJSON_Delete(tree);
    }
}

static void numbers_beyond_64_bit_integers_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"18446744073709551616",
                                        "18446744073709551620",
                                        "99999999999999999999",
                                        "184467440737095516150",
                                        "-1",
                                        "-9007199254740993",
                                        "-18446744073709551615",
                                        "1.0",
                                        "0.0",
                                        "1.5",
                                        "1e0",
                                        "1E2",
                                        "10e-1",
                                        "1e999",
                                        "1.0000000000000000",
                                        "\"1\"",
                                        "\"9007199254740993\"",
                                        "null",
                                        "true",
                                        "[1]"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        cJSON *tree = parsed(texts[i]);
        uint64_t value = 42;
        if (bs_json_u64(tree, &value))
            fail_msg("`%s` was taken for %llu", texts[i], (unsigned long long)value);
        cJSON_Delete(tree);
    }
}

static void a_written_string_is_read_back_the_same(void **state) {
    (void)state;
    char all[128 + 8 + 1] = {0};
    for (size_t i = 0; i < 128; i++)
        all[i] = (char)i;
    memcpy(all + 128, "\xC3\xA9\xF0\x9F\x98\x80\"\\", 8 + 1);
    struct bs_buf out = BS_BUF_INIT;
    bs_json_quote(&out, all, sizeof all - 1);
    struct bs_bytes text = bs_buf_take(&out);
    assert_int_equal(strlen(text.data), text.len);
    assert_bytes(text.data, all, sizeof all - 1);
    bs_bytes_clear(&text);
}

static void a_number_is_a_number_for_cjson(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
        bool has_text;
    } rows[] = {{"7", 7, false},
                {"-99999999999999", -99999999999999, false},
                {"1000000000000000", 1e15, true},
                {"1.50", 1.5, true},
                {"-2e3", -2000, true}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        cJSON *tree = parsed(rows[i].text);
        assert_true(cJSON_IsNumber(tree));
        assert_false(cJSON_IsString(tree));
        assert_true(tree->valuedouble == rows[i].value);
        if (rows[i].has_text)
            assert_string_equal(tree->valuestring, rows[i].text);
        else
            assert_null(tree->valuestring);
        cJSON_Delete(tree);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_a_number_for_cjson),
        cmocka_unit_test(strings_are_exact_with_every_nul),
        cmocka_unit_test(other_types_are_not_strings),
        cmocka_unit_test(integers_are_exact_up_to_the_last_bit),
        cmocka_unit_test(numbers_beyond_64_bit_integers_are_refused),
        cmocka_unit_test(a_written_string_is_read_back_the_same),
    };
    return cmocka_run_group_tests_name("base/json: values", tests, NULL, NULL);
}
