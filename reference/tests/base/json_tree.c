#include <string.h>

#include "base/json.h"
#include "support/harness.h"

static void assert_printed(const char *text, const char *wanted) {
    struct bs_json_error err;
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    cJSON *tree = bs_json_parse(text, strlen(text), &err);
    assert_non_null(tree);
    bs_json_put_tree(&out, tree);
    assert_false(out.text.failed);
    bs_buf_char(&out.text, '\0');
    assert_string_equal(out.text.data, wanted);
    bs_json_writer_clear(&out);
    cJSON_Delete(tree);
}

/* 80 digits, which is more than an old cJSON reads of a number. */
#define LONG_NUMBER                                                                                \
    "12345678901234567890123456789012345678901234567890123456789012345678901234567890"

static void a_tree_prints_what_was_read(void **state) {
    (void)state;
    static const char *const same[] = {"null",
                                       "true",
                                       "false",
                                       "0",
                                       "-0",
                                       "-7",
                                       "999999999999999",
                                       "-123456789012345678901234567890",
                                       "1.50",
                                       "1e400",
                                       "[1," LONG_NUMBER ",2,-0." LONG_NUMBER "]",
                                       "\"\"",
                                       "\"\\u0000a\\u0000\"",
                                       "[]",
                                       "{}",
                                       "[[],{},[{\"a\":[null]}]]",
                                       "{\"\":1,\"a\\u0000b\":\"\xC3\xA9\"}"};
    for (size_t i = 0; i < LENGTH(same); i++)
        assert_printed(same[i], same[i]);
    assert_printed(" { \"\\u0061\" : [ 1 , 2 ] } ", "{\"a\":[1,2]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_tree_prints_what_was_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
