#include "base/json_write.h"

#include <string.h>

#include "support/harness.h"

/* Compare the text that was written, and empty the writer. */
static void assert_written(struct bs_json_writer *out, const char *expected) {
    assert_false(out->text.failed);
    bs_buf_char(&out->text, '\0');
    assert_string_equal(out->text.data, expected);
    bs_json_writer_clear(out);
}

static void an_empty_container_has_no_comma(void **state) {
    (void)state;
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    bs_json_open_object(&out);
    bs_json_close_object(&out);
    assert_written(&out, "{}");
    bs_json_open_array(&out);
    bs_json_close_array(&out);
    assert_written(&out, "[]");
}

static void commas_separate_members_and_elements_at_each_level(void **state) {
    (void)state;
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    bs_json_open_object(&out);
    bs_json_put_key(&out, "a");
    bs_json_open_array(&out);
    bs_json_open_array(&out);
    bs_json_close_array(&out);
    bs_json_open_object(&out);
    bs_json_put_key(&out, "b");
    bs_json_put_null(&out);
    bs_json_close_object(&out);
    bs_json_put_u64(&out, 7);
    bs_json_close_array(&out);
    bs_json_put_key(&out, "c");
    bs_json_put_bool(&out, true);
    bs_json_put_key(&out, "d");
    bs_json_open_array(&out);
    bs_json_put_bool(&out, false);
    bs_json_put_u64(&out, UINT64_MAX);
    bs_json_close_array(&out);
    bs_json_close_object(&out);
    assert_written(&out, "{\"a\":[[],{\"b\":null},7],\"c\":true,"
                         "\"d\":[false,18446744073709551615]}");
}

static void a_string_may_come_in_pieces(void **state) {
    (void)state;
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    bs_json_open_object(&out);
    bs_json_open_string(&out);
    bs_json_add_text(&out, "a", 1);
    bs_json_add_text(&out, "\0\"", 2);
    bs_json_close_key(&out);
    bs_json_open_string(&out);
    bs_json_close_string(&out);
    bs_json_put_key(&out, "b");
    bs_json_put_text(&out, "\\\t");
    bs_json_close_object(&out);
    assert_written(&out, "{\"a\\u0000\\\"\":\"\",\"b\":\"\\\\\\u0009\"}");
}

static void ill_formed_bytes_become_replacement_characters(void **state) {
    (void)state;
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    bs_json_open_array(&out);
    bs_json_put_lossy(&out,
                      "a\xFF\xE2\x82"
                      "b\xC3\xA9",
                      7);
    bs_json_put_lossy(&out, "\xF0\x9F", 2);
    bs_json_put_lossy(&out, "", 0);
    bs_json_close_array(&out);
    assert_written(&out, "[\"a\xEF\xBF\xBD\xEF\xBF\xBD"
                         "b\xC3\xA9\",\"\xEF\xBF\xBD\",\"\"]");
}

static void a_finished_value_is_inserted_unchanged(void **state) {
    (void)state;
    struct bs_json_writer inner = BS_JSON_WRITER_INIT;
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    bs_json_open_array(&inner);
    bs_json_put_u64(&inner, 1);
    bs_json_close_array(&inner);
    bs_json_open_array(&out);
    bs_json_put_written(&out, &inner);
    bs_json_put_value(&out, "{ }", 3);
    bs_json_close_array(&out);
    assert_written(&out, "[[1],{ }]");
    bs_json_writer_clear(&inner);
}

static void the_failure_of_an_inner_writer_is_inherited(void **state) {
    (void)state;
    struct bs_json_writer inner = BS_JSON_WRITER_INIT;
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    inner.text.failed = true;
    bs_json_put_written(&out, &inner);
    assert_true(out.text.failed);
    bs_json_writer_clear(&out);
}

static void lines_follow_each_other_without_a_comma(void **state) {
    (void)state;
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    bs_json_put_u64(&out, 1);
    bs_json_end_line(&out);
    bs_json_put_u64(&out, 2);
    bs_json_end_line(&out);
    bs_buf_char(&out.text, '\0');
    assert_string_equal(out.text.data, "1\n2\n");
    bs_json_writer_reset(&out);
    bs_json_put_u64(&out, 3);
    assert_written(&out, "3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_container_has_no_comma),
        cmocka_unit_test(commas_separate_members_and_elements_at_each_level),
        cmocka_unit_test(a_string_may_come_in_pieces),
        cmocka_unit_test(ill_formed_bytes_become_replacement_characters),
        cmocka_unit_test(a_finished_value_is_inserted_unchanged),
        cmocka_unit_test(the_failure_of_an_inner_writer_is_inherited),
        cmocka_unit_test(lines_follow_each_other_without_a_comma),
    };
    return cmocka_run_group_tests_name("base/json_write", tests, NULL, NULL);
}
