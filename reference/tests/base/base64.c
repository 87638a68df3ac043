#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "support/harness.h"

static void assert_refused(const char *text) {
    size_t len = 0;
    char *copy = strdup(text);
    assert_non_null(copy);
    if (bs_base64_decode(copy, strlen(text), &len))
        fail_msg("`%s` was taken for Base64", text);
    free(copy);
}

static void the_vectors_of_rfc_4648_hold_both_ways(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        const char *text;
    } vectors[] = {{"", ""},
                   {"f", "Zg=="},
                   {"fo", "Zm8="},
                   {"foo", "Zm9v"},
                   {"foob", "Zm9vYg=="},
                   {"fooba", "Zm9vYmE="},
                   {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        struct bs_buf out = BS_BUF_INIT;
        bs_json_quote_base64(&out, vectors[i].bytes, strlen(vectors[i].bytes));
        assert_int_equal(out.len, strlen(vectors[i].text) + 2);
        assert_memory_equal(out.data + 1, vectors[i].text, strlen(vectors[i].text));
        size_t len = 0;
        char text[16];
        (void)memcpy(text, vectors[i].text, strlen(vectors[i].text) + 1);
        assert_true(bs_base64_decode(text, strlen(text), &len));
        assert_int_equal(len, strlen(vectors[i].bytes));
        assert_string_equal(text, vectors[i].bytes);
        bs_buf_clear(&out);
    }
}

static void every_length_is_decoded_to_its_input(void **state) {
    (void)state;
    unsigned char bytes[260];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(255 - i * 37);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct bs_buf out = BS_BUF_INIT;
        bs_json_quote_base64(&out, bytes, n);
        assert_false(out.failed);
        size_t len = 0;
        char *back = out.data + 1;
        assert_true(bs_base64_decode(back, out.len - 2, &len));
        assert_int_equal(len, n);
        assert_memory_equal(back, bytes, n);
        assert_int_equal(back[n], '\0');
        bs_buf_clear(&out);
    }
}

static void every_byte_value_survives(void **state) {
    (void)state;
    for (unsigned value = 0; value < 256; value++) {
        unsigned char byte = (unsigned char)value;
        struct bs_buf out = BS_BUF_INIT;
        bs_json_quote_base64(&out, &byte, 1);
        size_t len = 0;
        char *back = out.data + 1;
        assert_true(bs_base64_decode(back, out.len - 2, &len));
        assert_int_equal((unsigned char)back[0], value);
        bs_buf_clear(&out);
    }
}

static void unused_bits_must_be_zero(void **state) {
    (void)state;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < 64; i++) {
        char one[] = {'Q', digits[i], '=', '=', '\0'};
        char two[] = {'Q', 'Q', digits[i], '=', '\0'};
        size_t len = 0;
        assert_int_equal(bs_base64_decode(one, 4, &len), i % 16 == 0);
        assert_int_equal(bs_base64_decode(two, 4, &len), i % 4 == 0);
    }
}

static void padding_is_complete_and_only_at_the_end(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "QQ",   "QQ=",  "Q",        "Q===",     "====",  "==",       "=",    "=QQQ",
        "Q=QQ", "QQ=Q", "QQ==QQ==", "QUI=QUI=", "QUJD=", "QUJD====", "QQ==="};
    for (size_t i = 0; i < LENGTH(wrong); i++)
        assert_refused(wrong[i]);
}

static void white_space_and_other_alphabets_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"QUJD\n", " QUJD",     "QU JD",
                                        "QUJ\n",  "QU\r\nJDQ", "QUJD\t\t\t\t",
                                        "-_-_",   "QUJ*",      "\xC3\xA9\xC3\xA9"};
    for (size_t i = 0; i < LENGTH(wrong); i++)
        assert_refused(wrong[i]);
    size_t len = 0;
    assert_false(bs_base64_decode((char[]){"QU\0D"}, 4, &len));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_rfc_4648_hold_both_ways),
        cmocka_unit_test(every_length_is_decoded_to_its_input),
        cmocka_unit_test(every_byte_value_survives),
        cmocka_unit_test(unused_bits_must_be_zero),
        cmocka_unit_test(padding_is_complete_and_only_at_the_end),
        cmocka_unit_test(white_space_and_other_alphabets_are_refused),
    };
    return cmocka_run_group_tests_name("base/base64", tests, NULL, NULL);
}
