#include "shim/exec_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

struct decoded {
    cJSON *tree;
    struct bs_decoder decoder;
    struct bs_exec_request request;
};

static struct decoded decoded(const char *text) {
    struct decoded d = {0};
    struct bs_json_error err = {0};
    d.tree = bs_json_parse(text, strlen(text), &err);
    if (d.tree == NULL)
        fail_msg("`%s`: %s", text, err.message);
    bs_decode_request(&d.decoder, d.tree, "/request", &d.request);
    return d;
}

static void done(struct decoded *d) {
    bs_decoder_clear(&d->decoder);
    bs_decoder_clear(&d->decoder);
    cJSON_Delete(d->tree);
}

/* Check that the problems have exactly these pointers, in this order, and that their list is strict
 * JSON. */
static void assert_problems(const char *text, const char *const *pointers) {
    struct decoded d = decoded(text);
    struct bs_json_writer list = BS_JSON_WRITER_INIT;
    struct bs_json_error err = {0};
    bs_decoder_put_problems(&d.decoder, &list);
    cJSON *problems = bs_json_parse(list.text.data, list.text.len, &err);
    assert_non_null(problems);
    int n = 0;
    for (; pointers[n] != NULL; n++) {
        const cJSON *problem = cJSON_GetArrayItem(problems, n);
        if (problem == NULL)
            fail_msg("`%s`: no problem at %s", text, pointers[n]);
        assert_string_equal(cJSON_GetObjectItem(problem, "pointer")->valuestring, pointers[n]);
        assert_true(strlen(cJSON_GetObjectItem(problem, "message")->valuestring) > 0);
    }
    if (cJSON_GetArraySize(problems) != n)
        fail_msg("`%s`: other problems too: %.*s", text, (int)list.text.len, list.text.data);
    assert_true(bs_decoder_failed(&d.decoder) == (n > 0));
    cJSON_Delete(problems);
    bs_json_writer_clear(&list);
    done(&d);
}

#define PROBLEMS(text, ...) assert_problems(text, (const char *[]){__VA_ARGS__, NULL})

static void only_a_program_is_required(void **state) {
    (void)state;
    struct decoded d = decoded("{\"program\":\"x\"}");
    assert_false(bs_decoder_failed(&d.decoder));
    assert_string_equal(d.request.program, "x");
    assert_int_equal(d.request.n_args, 0);
    assert_null(d.request.current_dir);
    assert_null(d.request.timeout_ms);
    assert_null(d.request.max_output_bytes);
    assert_int_equal(d.request.stdin_mode, BS_STDIN_INHERIT);
    assert_int_equal(d.request.stdin_failure, BS_STDIN_FAILURE_ERROR);
    assert_int_equal(d.request.env_mode, BS_ENV_INHERIT);
    assert_false(d.request.debug);
    assert_null(d.request.cancel_fd);
    done(&d);
    PROBLEMS("{}", "/request/program");
    PROBLEMS("[]", "/request");
    PROBLEMS("null", "/request");
}

static void every_field_is_decoded(void **state) {
    (void)state;
    struct decoded d = decoded(
        "{\"program\":\"p\",\"args\":[\"\",\"b c\"],\"current_dir\":\"/d\",\"timeout_ms\":0,"
        "\"stdin\":{\"bytes\":\"a\\u0000b\"},\"env\":{\"clear_and_set\":[[\"K\",\"V\"],[\"\",\"\"]]"
        "},"
        "\"debug\":true,\"max_output_bytes\":18446744073709551614,\"stdin_failure\":\"ignore\"}");
    assert_false(bs_decoder_failed(&d.decoder));
    assert_int_equal(d.request.n_args, 2);
    assert_string_equal(d.request.args[0], "");
    assert_string_equal(d.request.args[1], "b c");
    assert_string_equal(d.request.current_dir, "/d");
    assert_int_equal(*d.request.timeout_ms, 0);
    assert_int_equal(d.request.stdin_mode, BS_STDIN_BYTES);
    assert_int_equal(d.request.stdin_len, 3);
    assert_memory_equal(d.request.stdin_data, "a\0b", 3);
    assert_int_equal(d.request.env_mode, BS_ENV_CLEAR_AND_SET);
    assert_int_equal(d.request.n_env, 2);
    assert_string_equal(d.request.env[0].name, "K");
    assert_string_equal(d.request.env[0].value, "V");
    assert_string_equal(d.request.env[1].name, "");
    assert_true(d.request.debug);
    assert_true(*d.request.max_output_bytes == UINT64_MAX - 1);
    assert_int_equal(d.request.stdin_failure, BS_STDIN_FAILURE_IGNORE);
    assert_string_equal(d.decoder.nul_in, "");
    done(&d);
}

static void base64_fields_carry_bytes_that_are_not_text(void **state) {
    (void)state;
    struct decoded d = decoded("{\"program_b64\":\"/w==\",\"args_b64\":[\"gA==\",\"\"],"
                               "\"current_dir_b64\":\"L/8=\",\"stdin\":{\"bytes_b64\":\"AP8=\"},"
                               "\"env\":{\"clear_and_set_b64\":[[\"Sw==\",\"/g==\"]]}}");
    assert_false(bs_decoder_failed(&d.decoder));
    assert_string_equal(d.request.program, "\xFF");
    assert_string_equal(d.request.args[0], "\x80");
    assert_string_equal(d.request.args[1], "");
    assert_string_equal(d.request.current_dir, "/\xFF");
    assert_int_equal(d.request.stdin_len, 2);
    assert_memory_equal(d.request.stdin_data, "\0\xFF", 2);
    assert_string_equal(d.request.env[0].name, "K");
    assert_string_equal(d.request.env[0].value, "\xFE");
    done(&d);
}

static void a_field_and_its_base64_form_exclude_each_other(void **state) {
    (void)state;
    PROBLEMS("{\"program\":\"x\",\"program_b64\":\"eA==\"}", "/request/program_b64");
    PROBLEMS("{\"program\":\"x\",\"args\":[],\"args_b64\":[]}", "/request/args_b64");
    PROBLEMS("{\"program\":\"x\",\"current_dir\":\"/\",\"current_dir_b64\":\"Lw==\"}",
             "/request/current_dir_b64");
    PROBLEMS("{\"program\":\"x\",\"stdin\":{\"bytes\":\"\",\"bytes_b64\":\"\"}}",
             "/request/stdin/bytes_b64");
    PROBLEMS("{\"program\":\"x\",\"env\":{\"clear_and_set\":[],\"clear_and_set_b64\":[]}}",
             "/request/env/clear_and_set_b64");
}

static void all_problems_are_in_one_answer(void **state) {
    (void)state;
    PROBLEMS("{\"args\":[1,\"ok\",null],\"timeout_ms\":-1,\"stdin\":7,\"env\":[],\"debug\":1,"
             "\"max_output_bytes\":1.5,\"stdin_failure\":\"maybe\",\"colour\":1}",
             "/request/colour", "/request/program", "/request/args/0", "/request/args/2",
             "/request/timeout_ms", "/request/stdin", "/request/env", "/request/debug",
             "/request/max_output_bytes", "/request/stdin_failure");
}

static void unknown_fields_are_named_with_their_place(void **state) {
    (void)state;
    PROBLEMS("{\"program\":\"x\",\"Program\":1,\"cwd\":1}", "/request/Program", "/request/cwd");
    PROBLEMS("{\"program\":\"x\",\"stdin\":{\"bytes\":\"\",\"text\":\"\"}}", "/request/stdin/text");
    PROBLEMS("{\"program\":\"x\",\"env\":{\"clear_and_set\":[],\"unset\":[]}}",
             "/request/env/unset");
    PROBLEMS("{\"program\":\"x\",\"a\\u0000\\n\\u00e9\":1}", "/request/a????");
}

static void integers_are_whole_and_not_negative(void **state) {
    (void)state;
    static const char *const wrong[] = {"-1",    "1.5",  "1.0", "1e3",  "18446744073709551616",
                                        "\"1\"", "null", "[]",  "true", "-9007199254740993"};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "{\"program\":\"x\",\"timeout_ms\":%s}", wrong[i]);
        PROBLEMS(text, "/request/timeout_ms");
    }
    struct decoded d = decoded("{\"program\":\"x\",\"timeout_ms\":18446744073709551615}");
    assert_false(bs_decoder_failed(&d.decoder));
    assert_true(*d.request.timeout_ms == UINT64_MAX);
    done(&d);
}

static void null_is_not_the_same_as_a_missing_field(void **state) {
    (void)state;
    PROBLEMS("{\"program\":null}", "/request/program");
    PROBLEMS("{\"program\":\"x\",\"args\":null,\"current_dir\":null,\"stdin\":null,\"env\":null,"
             "\"debug\":null,\"stdin_failure\":null}",
             "/request/args", "/request/current_dir", "/request/stdin", "/request/env",
             "/request/debug", "/request/stdin_failure");
}

static void pairs_have_two_strings(void **state) {
    (void)state;
    PROBLEMS("{\"program\":\"x\",\"env\":{}}", "/request/env/clear_and_set");
    PROBLEMS("{\"program\":\"x\",\"env\":{\"clear_and_set\":[[\"A\",\"1\"],[\"B\"]]}}",
             "/request/env/clear_and_set/1");
    PROBLEMS("{\"program\":\"x\",\"env\":{\"clear_and_set\":[[\"A\",1],[2,\"B\"]]}}",
             "/request/env/clear_and_set/0/1", "/request/env/clear_and_set/1/0");
    PROBLEMS("{\"program\":\"x\",\"env\":{\"clear_and_set\":{\"A\":\"1\"}}}",
             "/request/env/clear_and_set");
    PROBLEMS("{\"program\":\"x\",\"env\":{\"clear_and_set_b64\":[[\"A\",\"Vg==\"]]}}",
             "/request/env/clear_and_set_b64/0/0");
}

static void stdin_accepts_four_forms(void **state) {
    (void)state;
    PROBLEMS("{\"program\":\"x\",\"stdin\":\"pipe\"}", "/request/stdin");
    PROBLEMS("{\"program\":\"x\",\"stdin\":{}}", "/request/stdin/bytes");
    PROBLEMS("{\"program\":\"x\",\"stdin\":{\"bytes\":1}}", "/request/stdin/bytes");
    PROBLEMS("{\"program\":\"x\",\"stdin\":{\"bytes_b64\":\"A\"}}", "/request/stdin/bytes_b64");
    struct decoded d = decoded("{\"program\":\"x\",\"stdin\":\"null\"}");
    assert_int_equal(d.request.stdin_mode, BS_STDIN_NULL);
    done(&d);
    d = decoded("{\"program\":\"x\",\"stdin\":{\"bytes\":\"\"}}");
    assert_int_equal(d.request.stdin_mode, BS_STDIN_BYTES);
    assert_int_equal(d.request.stdin_len, 0);
    done(&d);
}

static void a_nul_is_reported_with_its_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *place;
    } rows[] = {{"{\"program\":\"a\\u0000\"}", "/request/program"},
                {"{\"program\":\"x\",\"args\":[\"y\",\"\\u0000\"]}", "/request/args/1"},
                {"{\"program\":\"x\",\"current_dir_b64\":\"AA==\"}", "/request/current_dir_b64"},
                {"{\"program\":\"x\",\"env\":{\"clear_and_set\":[[\"A\",\"\\u0000\"]]}}",
                 "/request/env/clear_and_set/0/1"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct decoded d = decoded(rows[i].text);
        assert_false(bs_decoder_failed(&d.decoder));
        assert_string_equal(d.decoder.nul_in, rows[i].place);
        done(&d);
    }
}

static void the_first_problem_is_the_message(void **state) {
    (void)state;
    struct decoded d = decoded("{\"timeout_ms\":-1}");
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    bs_decoder_put_first_problem(&d.decoder, &out);
    bs_buf_char(&out.text, '\0');
    assert_string_equal(out.text.data,
                        "\"/request/program: `program` (or `program_b64`) is missing\"");
    bs_json_writer_clear(&out);
    done(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_program_is_required),
        cmocka_unit_test(every_field_is_decoded),
        cmocka_unit_test(base64_fields_carry_bytes_that_are_not_text),
        cmocka_unit_test(a_field_and_its_base64_form_exclude_each_other),
        cmocka_unit_test(all_problems_are_in_one_answer),
        cmocka_unit_test(unknown_fields_are_named_with_their_place),
        cmocka_unit_test(integers_are_whole_and_not_negative),
        cmocka_unit_test(null_is_not_the_same_as_a_missing_field),
        cmocka_unit_test(pairs_have_two_strings),
        cmocka_unit_test(stdin_accepts_four_forms),
        cmocka_unit_test(a_nul_is_reported_with_its_place),
        cmocka_unit_test(the_first_problem_is_the_message),
    };
    return cmocka_run_group_tests_name("shim/decode", tests, NULL, NULL);
}
