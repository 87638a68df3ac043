#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "support/harness.h"
#include "support/spent.h"

struct row {
    const char *text;
    size_t column;
    const char *words; /* a part of the expected message */
};

static struct bs_json_error refused(const char *text, size_t len) {
    struct bs_json_error err = {0};
    cJSON *tree = bs_json_parse(text, len, &err);
    if (tree != NULL) {
        cJSON_Delete(tree);
        fail_msg("`%s` was taken", text);
    }
    return err;
}

static void assert_refused_at(const char *text, size_t len, size_t line, size_t column,
                              const char *words) {
    struct bs_json_error err = refused(text, len);
    if (err.line != line || err.column != column || strstr(err.message, words) == NULL)
        fail_msg("`%s`: `%s` at %zu:%zu, not `%s` at %zu:%zu", text, err.message, err.line,
                 err.column, words, line, column);
}

static void assert_rows(const struct row *rows, size_t n) {
    for (size_t i = 0; i < n; i++)
        assert_refused_at(rows[i].text, strlen(rows[i].text), 1, rows[i].column, rows[i].words);
}

static void nothing_may_follow_or_precede_the_value(void **state) {
    (void)state;
    static const struct row rows[] = {{"", 1, "value is missing"},
                                      {"   ", 4, "value is missing"},
                                      {"1 2", 3, "something follows"},
                                      {"{}x", 3, "something follows"},
                                      {"{}{}", 3, "something follows"},
                                      {"[1]]", 4, "something follows"},
                                      {"0x1", 2, "something follows"},
                                      {"null,", 5, "something follows"},
                                      {"\"a\"b", 4, "something follows"},
                                      {"// c", 1, "value is missing"},
                                      {"/**/1", 1, "value is missing"},
                                      {"1 # c", 3, "something follows"},
                                      {"\f1", 1, "value is missing"},
                                      {"\v1", 1, "value is missing"},
                                      {"\xC2\xA0"
                                       "1",
                                       1, "value is missing"},
                                      {"\xEF\xBB\xBF{}", 1, "byte order mark"}};
    assert_rows(rows, LENGTH(rows));
    assert_refused_at("1\0", 2, 1, 2, "something follows");
    assert_refused_at("\0", 1, 1, 1, "value is missing");
}

static void numbers_have_one_spelling(void **state) {
    (void)state;
    static const struct row rows[] = {{"01", 2, "leading zero"},
                                      {"-01", 3, "leading zero"},
                                      {"00", 2, "leading zero"},
                                      {"1.", 3, "digit"},
                                      {"1.e1", 3, "digit"},
                                      {".5", 1, "value is missing"},
                                      {"-", 2, "digit"},
                                      {"-.5", 2, "digit"},
                                      {"+1", 1, "value is missing"},
                                      {"1e", 3, "digit"},
                                      {"1e+", 4, "digit"},
                                      {"1E-", 4, "digit"},
                                      {"1.5e", 5, "digit"},
                                      {"--1", 2, "digit"},
                                      {"1.2.3", 4, "something follows"},
                                      {"1_000", 2, "something follows"},
                                      {"- 1", 2, "digit"},
                                      {"-Infinity", 2, "digit"}};
    assert_rows(rows, LENGTH(rows));
}

static void words_that_json_does_not_have_are_refused(void **state) {
    (void)state;
    static const char *const words[] = {"nul", "nulL", "True",     "FALSE",     "tru",
                                        "NaN", "nan",  "Infinity", "undefined", "a",
                                        "'a'", "}",    "]",        ",",         ":"};
    for (size_t i = 0; i < LENGTH(words); i++)
        assert_refused_at(words[i], strlen(words[i]), 1, 1, "");
    assert_refused_at("nulll", 5, 1, 5, "something follows");
}

static void incomplete_brackets_and_separators_are_refused(void **state) {
    (void)state;
    static const struct row rows[] = {{"[", 2, "value is missing"},
                                      {"[1", 3, "comma or ]"},
                                      {"[1,", 4, "value is missing"},
                                      {"[1,]", 4, "value is missing"},
                                      {"[,1]", 2, "value is missing"},
                                      {"[1,,2]", 4, "value is missing"},
                                      {"[1 2]", 4, "comma or ]"},
                                      {"[1}", 3, "comma or ]"},
                                      {"{", 2, "member name"},
                                      {"{\"a\"", 5, "colon"},
                                      {"{\"a\" 1}", 6, "colon"},
                                      {"{\"a\":}", 6, "value is missing"},
                                      {"{\"a\":1", 7, "comma or }"},
                                      {"{\"a\":1,}", 8, "member name"},
                                      {"{,}", 2, "member name"},
                                      {"{a:1}", 2, "member name"},
                                      {"{'a':1}", 2, "member name"},
                                      {"{1:1}", 2, "member name"},
                                      {"{\"a\":1 \"b\":2}", 8, "comma or }"},
                                      {"{\"a\"::1}", 6, "value is missing"}};
    assert_rows(rows, LENGTH(rows));
}

static void controls_and_unknown_escapes_in_strings_are_refused(void **state) {
    (void)state;
    static const struct row rows[] = {{"\"abc", 5, "closing quote"},
                                      {"\"", 2, "closing quote"},
                                      {"\"a\nb\"", 3, "control"},
                                      {"\"\t\"", 2, "control"},
                                      {"\"\x01\"", 2, "control"},
                                      {"\"\x1F\"", 2, "control"},
                                      {"{\"\n\":1}", 3, "control"},
                                      {"\"\\x41\"", 2, "unknown escape"},
                                      {"\"\\'\"", 2, "unknown escape"},
                                      {"\"\\a\"", 2, "unknown escape"},
                                      {"\"\\U0041\"", 2, "unknown escape"},
                                      {"\"\\", 2, "unknown escape"},
                                      {"\"\\\"", 4, "closing quote"},
                                      {"\"\\u12\"", 2, "four hexadecimal"},
                                      {"\"\\u\"", 2, "four hexadecimal"},
                                      {"\"ab\\u00g0\"", 4, "four hexadecimal"},
                                      {"\"\\u+041\"", 2, "four hexadecimal"}};
    assert_rows(rows, LENGTH(rows));
    assert_refused_at("\"\0\"", 3, 1, 2, "control");
}

static void unpaired_surrogates_are_refused(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"\"\\ud800\"", 2, "high surrogate"},        {"\"\\udbff\"", 2, "high surrogate"},
        {"\"a\\ud800b\"", 3, "high surrogate"},      {"\"\\ud800\\u0041\"", 2, "high surrogate"},
        {"\"\\ud800\\ud800\"", 2, "high surrogate"}, {"\"\\ud800\\n\"", 2, "high surrogate"},
        {"\"\\ud800\\u", 2, "high surrogate"},       {"\"\\udc00\"", 2, "low surrogate"},
        {"\"\\udfff\\ud800\"", 2, "low surrogate"},  {"{\"\\udc00\":1}", 3, "low surrogate"}};
    assert_rows(rows, LENGTH(rows));
}

static void bytes_that_are_not_utf8_are_refused_at_their_place(void **state) {
    (void)state;
    static const struct row rows[] = {{"\"\xFF\"", 2, "not UTF-8"},
                                      {"\"ab\xC0\x80\"", 4, "not UTF-8"},
                                      {"\"\xED\xA0\x80\"", 2, "not UTF-8"},
                                      {"\"\xE2\x82\"", 2, "not UTF-8"},
                                      {"\"\xF4\x90\x80\x80\"", 2, "not UTF-8"},
                                      {"{\"\x80\":1}", 3, "not UTF-8"},
                                      {"\xFE\xFF", 1, "not UTF-8"},
                                      {"\"\xFE"
                                       "12345678901234567\"",
                                       2, "not UTF-8"},
                                      {"[1]\x80", 4, "not UTF-8"}};
    assert_rows(rows, LENGTH(rows));
}

static void a_repeated_member_is_refused_in_every_spelling(void **state) {
    (void)state;
    static const char *const texts[] = {"{\"a\":1,\"a\":1}",
                                        "{\"a\":1,\"b\":2,\"a\":3}",
                                        "{\"a\":1,\"\\u0061\":2}",
                                        "{\"\\u0061\":1,\"\\u0061\":2}",
                                        "{\"\":1,\"\":2}",
                                        "[[{\"x\":{\"k\":1,\"k\":2}}]]",
                                        "{\"\xC3\xA9\":1,\"\\u00e9\":2}",
                                        "{\"/\":1,\"\\/\":2}",
                                        "{\"\\ud83d\\ude00\":1,\"\xF0\x9F\x98\x80\":2}",
                                        "{\"a\\u0000b\":1,\"a\\u0000b\":2}"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct bs_json_error err = refused(texts[i], strlen(texts[i]));
        assert_non_null(strstr(err.message, "twice"));
    }
    struct bs_json_error err = {0};
    static const char different[] = "{\"a\":1,\"a\\u0000\":2,\"a\\u0000b\":3}";
    cJSON *tree = bs_json_parse(different, sizeof different - 1, &err);
    assert_non_null(tree);
    cJSON_Delete(tree);
}

static void columns_start_again_in_each_line(void **state) {
    (void)state;
    assert_refused_at("[\n1,\n  x]", 9, 3, 3, "value is missing");
    assert_refused_at("{\n\"a\": \"\x80\"}", 11, 2, 7, "not UTF-8");
    assert_refused_at("1\n\n2", 4, 3, 1, "something follows");
    assert_refused_at("[\r\n1", 5, 2, 2, "comma or ]");
    assert_refused_at("\r1\r\n2", 5, 3, 1, "something follows");
    /* Columns count characters. Before this error there are two characters of two bytes each. */
    assert_refused_at("\"\xC3\xA9\xC3\xA9\n\"", 7, 1, 4, "control");
}

static void sixty_five_levels_are_too_many(void **state) {
    (void)state;
    char text[2 * (BS_JSON_MOST_DEPTH + 1)];
    memset(text, '[', BS_JSON_MOST_DEPTH + 1);
    memset(text + BS_JSON_MOST_DEPTH + 1, ']', BS_JSON_MOST_DEPTH + 1);
    struct bs_json_error err = refused(text, sizeof text);
    assert_int_equal(err.column, BS_JSON_MOST_DEPTH + 1);
    assert_non_null(strstr(err.message, "nested too deeply"));
}

static void a_hundred_thousand_brackets_cost_milliseconds(void **state) {
    (void)state;
    enum { MANY = 100000 };
    char *text = malloc(5 * MANY);
    assert_non_null(text);
    double start = spent_ms();
    memset(text, '[', MANY);
    assert_int_equal(refused(text, MANY).column, BS_JSON_MOST_DEPTH + 1);
    for (size_t i = 0; i < (size_t)5 * MANY; i++)
        text[i] = "{\"a\":"[i % 5];
    assert_non_null(strstr(refused(text, 5 * MANY).message, "nested too deeply"));
    assert_true(spent_ms() - start < 100);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_may_follow_or_precede_the_value),
        cmocka_unit_test(numbers_have_one_spelling),
        cmocka_unit_test(words_that_json_does_not_have_are_refused),
        cmocka_unit_test(incomplete_brackets_and_separators_are_refused),
        cmocka_unit_test(controls_and_unknown_escapes_in_strings_are_refused),
        cmocka_unit_test(unpaired_surrogates_are_refused),
        cmocka_unit_test(bytes_that_are_not_utf8_are_refused_at_their_place),
        cmocka_unit_test(a_repeated_member_is_refused_in_every_spelling),
        cmocka_unit_test(columns_start_again_in_each_line),
        cmocka_unit_test(sixty_five_levels_are_too_many),
        cmocka_unit_test(a_hundred_thousand_brackets_cost_milliseconds),
    };
    return cmocka_run_group_tests_name("base/json: refused", tests, NULL, NULL);
}
