/* Tests code that reads rules and files in blocks and words, at every offset around the sizes of a
 * block and of a word. Readers that process one byte at a time compute the expected results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/word.h"
#include "policy/document/cover.h"
#include "policy/file/yaml.h"
#include "policy/path/rule.h"
#include "support/append.h"
#include "support/harness.h"

enum { LONGEST = 140, ROOM = 160, SEED = 12345 };

/* Make the normal form of an ASCII body, byte by byte. The body must not begin with a prefix such
 * as `~/`. Returns false if the body is refused. */
static bool naive_normal_form(const char *text, size_t len, char *out, size_t *out_len) {
    size_t used = 0;
    for (size_t at = 0; at < len;) {
        size_t end = at;
        while (end < len && text[end] != '/' && text[end] != '\\')
            end++;
        size_t size = end - at;
        if (size == 2 && text[at] == '.' && text[at + 1] == '.')
            return false;
        bool dropped = size == 0 || (size == 1 && text[at] == '.');
        if (!dropped && used > 0)
            out[used++] = '/';
        size_t stars = 0;
        for (size_t i = at; i < end && !dropped; i++) {
            stars = text[i] == '*' ? stars + 1 : 0;
            if (stars <= 2)
                out[used++] = text[i];
        }
        at = end + 1;
    }
    if (used == 0)
        out[used++] = '.';
    *out_len = used;
    return true;
}

static void assert_normalized(const char *text, size_t len) {
    char expected[ROOM];
    size_t expected_len = 0;
    bool good = naive_normal_form(text, len, expected, &expected_len);
    char *body = malloc(len); /* a block of exactly the size of the body */
    size_t body_len = len;
    const char *problem = NULL;
    assert_non_null(body);
    memcpy(body, text, len);
    int code = bs_rule_body_normalize(body, &body_len, &problem);
    if ((code == BS_OK) != good)
        fail_msg("`%.*s`: %s", (int)len, text, problem != NULL ? problem : "is not refused");
    if (good && (body_len != expected_len || memcmp(body, expected, expected_len) != 0))
        fail_msg("`%.*s` became `%.*s`", (int)len, text, (int)body_len, body);
    free(body);
}

static void a_rule_is_normalized_at_each_offset(void **state) {
    (void)state;
    static const char *const pieces[] = {"/",  "//", "/./", "/../", "/..",  "/.", "\\",  "\\\\",
                                         "**", "**", "***", "****", "/**/", "..", "/..a"};
    for (size_t len = 1; len <= LONGEST; len++) {
        for (size_t p = 0; p < LENGTH(pieces); p++) {
            size_t size = strlen(pieces[p]);
            for (size_t at = 1; at + size <= len; at++) {
                char text[ROOM];
                memset(text, 'x', len);
                memcpy(text + at, pieces[p], size);
                assert_normalized(text, len);
            }
        }
    }
}

static void invalid_bytes_of_a_rule_are_found_at_each_offset(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        bool good;
    } rows[] = {{"\0", 1, false},          {"\xFF", 1, false},           {"\xC3", 1, false},
                {"\xE2\x82", 2, false},    {"\xC0\xAF", 2, false},       {"\xC3\xA9", 2, true},
                {"\xE2\x82\xAC", 3, true}, {"\xF0\x9F\x98\x80", 4, true}};
    for (size_t len = 1; len <= LONGEST; len++) {
        for (size_t r = 0; r < LENGTH(rows); r++) {
            for (size_t at = 0; at + rows[r].size <= len; at++) {
                char *body = malloc(len);
                size_t body_len = len;
                const char *problem = NULL;
                assert_non_null(body);
                memset(body, 'x', len);
                memcpy(body + at, rows[r].bytes, rows[r].size);
                int code = bs_rule_body_normalize(body, &body_len, &problem);
                if ((code == BS_OK) != rows[r].good || (code == BS_OK && body_len != len))
                    fail_msg("row %zu at %zu of %zu", r, at, len);
                free(body);
            }
        }
    }
}

static void invalid_bytes_of_a_yaml_file_are_found_at_each_offset(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        bool good;
    } rows[] = {{"\x01", false},
                {"\x1F", false},
                {"\x7F", false},
                {"\xC2\x85", false},
                {"\xC2\x80", false},
                {"\xE2\x80\xA8", false},
                {"\xE2\x80\xA9", false},
                {"\xEF\xBF\xBE", false},
                {"\xFF", false},
                {"\xE2\x80", false},
                {"\n", true},
                {"\t", true},
                {"\r", true},
                {" ", true},
                {"~", true},
                {"\xC2\xA0", true},
                {"\xE2\x80\xA7", true},
                {"\xE2\x80\xAA", true}, /* NOLINT: it is asked for on purpose */
                {"\xEF\xBF\xBD", true},
                {"\xF0\x9F\x98\x80", true}};
    for (size_t len = 1; len <= 70; len++) {
        for (size_t r = 0; r < LENGTH(rows); r++) {
            size_t size = strlen(rows[r].bytes);
            for (size_t at = 0; at + size <= len; at++) {
                char *text = malloc(len);
                assert_non_null(text);
                memset(text, len % 2 == 0 ? 'x' : '\n', len);
                memcpy(text + at, rows[r].bytes, size);
                struct bs_yaml_scan scan = bs_yaml_scan(text, len);
                bool ascii = (unsigned char)rows[r].bytes[0] < 0x80;
                if ((scan.problem == NULL) != rows[r].good ||
                    (rows[r].good ? scan.is_ascii != ascii : scan.at != at))
                    fail_msg("row %zu at %zu of %zu: %s", r, at, len,
                             scan.problem != NULL ? scan.problem : "no problem");
                free(text);
            }
        }
    }
}

/* The rules have names of every length, so that look-ups end at every position in a word. */
static void a_cover_agrees_with_a_byte_by_byte_one_at_each_offset(void **state) {
    (void)state;
    enum { RULES = 200 };
    static char texts[RULES][ROOM];
    struct bs_rule items[RULES];
    for (size_t i = 0; i < RULES; i++) {
        size_t len = 1 + i / 3;
        memset(texts[i], 'a', len);
        for (size_t at = 5; at + 1 < len; at += 6)
            texts[i][at] = '/';
        texts[i][len] = '\0';
        append(texts[i], sizeof texts[i], i % 3 == 0 ? "" : i % 3 == 1 ? "/**" : "/b/*");
        items[i] = (struct bs_rule){.body = texts[i], .len = (uint32_t)strlen(texts[i])};
        items[i].hash = (uint32_t)bs_table_hash(SEED, texts[i], items[i].len);
    }
    for (size_t n = 1; n <= RULES; n += 1 + n / 8) {
        const struct bs_rules rules = {items, n};
        struct bs_cover cover = {0};
        assert_true(bs_cover_fill(&cover, &rules, NULL, false, SEED));
        for (size_t i = 0; i < RULES; i++) {
            struct bs_span span = bs_cover_find(&cover, &items[i], true);
            struct bs_span expected = {BS_NO_COVER, BS_NO_COVER};
            for (size_t k = 0; k < n; k++) {
                if (!bs_rule_covers(items[k].body, items[k].len, items[i].body, items[i].len))
                    continue;
                expected.first = expected.first == BS_NO_COVER ? (uint32_t)k : expected.first;
                expected.last = (uint32_t)k;
            }
            if (span.first != expected.first || span.last != expected.last ||
                bs_cover_covers(&cover, &items[i]) != (expected.first != BS_NO_COVER))
                fail_msg("`%s` among %zu: %u to %u, expected %u to %u", items[i].body, n,
                         span.first, span.last, expected.first, expected.last);
        }
        bs_cover_clear(&cover);
    }
}

static void a_hash_depends_on_every_byte(void **state) {
    (void)state;
    for (size_t len = 1; len <= LONGEST; len++) {
        char text[ROOM];
        memset(text, 'a', len);
        uint64_t hash = bs_table_hash(SEED, text, len);
        assert_int_not_equal(hash, bs_table_hash(SEED, text, len - 1));
        for (size_t at = 0; at < len; at++) {
            text[at] = 'b';
            assert_int_not_equal(hash, bs_table_hash(SEED, text, len));
            text[at] = 'a';
        }
        assert_int_not_equal(hash, bs_table_hash(SEED + 2, text, len));
    }
}

static void parts_of_a_text_are_words(void **state) {
    (void)state;
    for (size_t len = 0; len <= 40; len++) {
        char *text = malloc(len + 1);
        assert_non_null(text);
        for (size_t i = 0; i < len; i++)
            text[i] = (char)(i + 1);
        for (size_t at = 0; at <= len; at++) {
            for (size_t n = 0; n <= BS_WORD_BYTES && at + n <= len; n++) {
                uint64_t expected = 0;
                for (size_t i = 0; i < n; i++)
                    expected |= (uint64_t)(at + i + 1) << 8 * i;
                assert_int_equal(bs_word_part(text, len, at, n), expected);
            }
        }
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_is_normalized_at_each_offset),
        cmocka_unit_test(invalid_bytes_of_a_rule_are_found_at_each_offset),
        cmocka_unit_test(invalid_bytes_of_a_yaml_file_are_found_at_each_offset),
        cmocka_unit_test(a_cover_agrees_with_a_byte_by_byte_one_at_each_offset),
        cmocka_unit_test(a_hash_depends_on_every_byte),
        cmocka_unit_test(parts_of_a_text_are_words),
    };
    return cmocka_run_group_tests_name("policy/offsets", tests, NULL, NULL);
}
