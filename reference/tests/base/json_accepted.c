#include <string.h>

#include "base/json.h"
#include "support/harness.h"

static cJSON *parsed(const char *text, size_t len) {
    struct bs_json_error err = {0};
    cJSON *tree = bs_json_parse(text, len, &err);
    if (tree == NULL)
        fail_msg("`%s` was refused at %zu:%zu: %s", text, err.line, err.column, err.message);
    return tree;
}

static void every_form_of_the_grammar_is_accepted(void **state) {
    (void)state;
    static const char *const texts[] = {"null",
                                        "true",
                                        "false",
                                        "0",
                                        "-0",
                                        "1",
                                        "-1",
                                        "10",
                                        "1.0",
                                        "1.5",
                                        "-0.0",
                                        "1e1",
                                        "1E+2",
                                        "1e-2",
                                        "0e0",
                                        "0.1e1",
                                        "1e999",
                                        "-1e999",
                                        "1e-999",
                                        "123456789012345678901234567890",
                                        "\"\"",
                                        "\"a\"",
                                        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                        "\"\\u0041\\u00e9\\u20AC\"",
                                        "\"\\ud83d\\ude00\"",
                                        "\"\\uD83D\\uDE00\"",
                                        "\"\\udbff\\udfff\"",
                                        "\"\\uffff\"",
                                        "\"\x7F\"",
                                        "\"\xC3\xA9 \xF0\x9F\x98\x80\"",
                                        "\"// no comment\"",
                                        "[]",
                                        "[ ]",
                                        "[1]",
                                        "[1,2]",
                                        "[[],[[]]]",
                                        "{}",
                                        "{ }",
                                        "{\"a\":1}",
                                        "{\"\":1}",
                                        "{\"a\":1,\"A\":2,\"a \":3}",
                                        "{\"a\":{\"a\":{\"a\":1}}}",
                                        "[{\"a\":1},{\"a\":2}]",
                                        " \t\r\n{ \"a\" : [ 1 , 2 ] } \n\n"};
    for (size_t i = 0; i < LENGTH(texts); i++)
        cJSON_Delete(parsed(texts[i], strlen(texts[i])));
}

static void a_length_not_a_nul_ends_the_text(void **state) {
    (void)state;
    cJSON_Delete(parsed("[1]garbage", 3));
    static const char unterminated[] = {'[', '"', 'a', '"', ']'};
    cJSON_Delete(parsed(unterminated, sizeof unterminated));
}

static void sixty_four_levels_are_accepted(void **state) {
    (void)state;
    char arrays[2 * BS_JSON_MOST_DEPTH];
    memset(arrays, '[', BS_JSON_MOST_DEPTH);
    memset(arrays + BS_JSON_MOST_DEPTH, ']', BS_JSON_MOST_DEPTH);
    cJSON_Delete(parsed(arrays, sizeof arrays));
    struct bs_buf objects = BS_BUF_INIT;
    for (int i = 0; i < BS_JSON_MOST_DEPTH - 1; i++)
        bs_buf_str(&objects, "{\"k\":");
    bs_buf_str(&objects, "{}");
    for (int i = 0; i < BS_JSON_MOST_DEPTH - 1; i++)
        bs_buf_char(&objects, '}');
    cJSON_Delete(parsed(objects.data, objects.len));
    bs_buf_clear(&objects);
}

static void members_and_items_keep_their_order_and_values(void **state) {
    (void)state;
    static const char text[] = "{\"z\":[1,\"two\",null,true],\"a\":{\"b\":\"c\"}}";
    cJSON *tree = parsed(text, sizeof text - 1);
    const cJSON *first = tree->child;
    assert_string_equal(first->string, "z");
    assert_int_equal(cJSON_GetArraySize(first), 4);
    assert_string_equal(cJSON_GetArrayItem(first, 1)->valuestring, "two");
    assert_true(cJSON_IsNull(cJSON_GetArrayItem(first, 2)));
    assert_true(cJSON_IsTrue(cJSON_GetArrayItem(first, 3)));
    assert_string_equal(first->next->string, "a");
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(first->next, "b")->valuestring, "c");
    cJSON_Delete(tree);
}

static void a_long_document_is_accepted(void **state) {
    (void)state;
    struct bs_buf text = BS_BUF_INIT;
    bs_buf_char(&text, '{');
    for (uint64_t i = 0; i < 20000; i++) {
        bs_buf_str(&text, i > 0 ? ",\"key" : "\"key");
        bs_buf_u64(&text, i);
        bs_buf_str(&text, "\":");
        bs_buf_u64(&text, i);
    }
    bs_buf_char(&text, '}');
    cJSON *tree = parsed(text.data, text.len);
    assert_int_equal(cJSON_GetArraySize(tree), 20000);
    cJSON_Delete(tree);
    bs_buf_clear(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_the_grammar_is_accepted),
        cmocka_unit_test(a_length_not_a_nul_ends_the_text),
        cmocka_unit_test(sixty_four_levels_are_accepted),
        cmocka_unit_test(members_and_items_keep_their_order_and_values),
        cmocka_unit_test(a_long_document_is_accepted),
    };
    return cmocka_run_group_tests_name("base/json: accepted", tests, NULL, NULL);
}
