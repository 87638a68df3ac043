#include "policy/path/path.h"

#include <stdlib.h>
#include <string.h>

#include <boxspec/path.h>

#include "base/utf8.h"
#include "support/harness.h"

#define TEXT(text) text, sizeof(text) - 1

/* Return the normal form, or NULL if the path is refused. The bytes are in blocks of exactly their
 * size, so that a sanitizer notices a read past the end. */
static char *normal_form(const char *path, size_t len, size_t *out_len) {
    char *copy = malloc(len > 0 ? len : 1);
    char *buffer = malloc(len + 1);
    assert_non_null(copy);
    assert_non_null(buffer);
    memcpy(copy, path, len);
    const char *normal = NULL;
    char *result = NULL;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_path_normalize(copy, len, buffer, &normal, out_len, &err);
    if (code == BS_OK) {
        result = malloc(*out_len + 1);
        assert_non_null(result);
        memcpy(result, normal, *out_len);
        result[*out_len] = '\0';
        assert_true(normal == copy || (normal == buffer && buffer[*out_len] == '\0'));
    } else {
        assert_int_equal(code, BS_E_INVALID);
        assert_int_equal(err.code, BS_E_INVALID);
        assert_true(strlen(err.message) > 10);
    }
    free(copy);
    free(buffer);
    return result;
}

static void empty_and_dot_segments_are_dropped(void **state) {
    (void)state;
    static const struct {
        const char *path;
        const char *normal;
    } rows[] = {
        {"a", "a"},         {"a/b", "a/b"},    {"./a", "a"},
        {"a/.", "a"},       {"a/", "a"},       {"a//b", "a/b"},
        {"a/./b", "a/b"},   {".", "."},        {"./", "."},
        {"././/.", "."},    {".a", ".a"},      {"..a", "..a"},
        {"a..", "a.."},     {"...", "..."},    {"a/.../b", "a/.../b"},
        {"!a", "!a"},       {"a b", "a b"},    {"a/ b", "a/ b"},
        {"a\nb", "a\nb"},   {"~a", "~a"},      {"a/~", "a/~"},
        {"a/c:x", "a/c:x"}, {"1:a", "1:a"},    {"\u00e9:x", "\u00e9:x"},
        {"[a]", "[a]"},     {"*", "*"},        {"./\u00e9//x", "\u00e9/x"},
        {"\n", "\n"},       {".//..a", "..a"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t len = 0;
        char *normal = normal_form(rows[i].path, strlen(rows[i].path), &len);
        assert_non_null(normal);
        assert_string_equal(normal, rows[i].normal);
        assert_int_equal(len, strlen(rows[i].normal));
        free(normal);
    }
}

static void invalid_paths_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *path;
        size_t len;
    } rows[] = {
        {TEXT("")},
        {TEXT("/")},
        {TEXT("/a")},
        {TEXT("//a")},
        {TEXT("~")},
        {TEXT("~/")},
        {TEXT("~/a")},
        {TEXT("./~")},
        {TEXT(".//~/a")},
        {TEXT("c:")},
        {TEXT("C:/a")},
        {TEXT("./C:x")},
        {TEXT("..")},
        {TEXT("../a")},
        {TEXT("a/..")},
        {TEXT("a/../b")},
        {TEXT("a\\b")},
        {TEXT("\\")},
        {TEXT(" a")},
        {TEXT("a ")},
        {TEXT("\ta")},
        {TEXT("a\t")},
        {TEXT("./ a")},
        {TEXT("a /.")},
        {TEXT("a\0b")},
        {TEXT("\0")},
        {TEXT("a/\0")},
        {TEXT("\xFF")},
        {TEXT("a\xC3")},
        {TEXT("\xC0\xAE")},
        {TEXT("\xED\xA0\x80")},
        {TEXT("0123456789abcdef\0")},
        {TEXT("0123456789abcdef0123456789\\")},
        {TEXT("0123456789abcde/..")},
        {TEXT("0123456789abcdef/../0123456789abcdef")},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t len = 0;
        if (normal_form(rows[i].path, rows[i].len, &len) != NULL)
            fail_msg("row %zu: `%s` is not refused", i, rows[i].path);
    }
}

static void a_refusal_does_not_change_the_outputs(void **state) {
    (void)state;
    char buffer[8];
    const char *normal = "untouched";
    size_t len = 77;
    assert_int_equal(bs_path_normalize("a/..", 4, buffer, &normal, &len, NULL), BS_E_INVALID);
    assert_string_equal(normal, "untouched");
    assert_int_equal(len, 77);
}

static void a_path_is_rewritten_in_place(void **state) {
    (void)state;
    char path[] = ".//ab/./cd//";
    const char *normal = NULL;
    size_t len = 0;
    assert_int_equal(bs_path_normalize(path, sizeof path - 1, path, &normal, &len, NULL), BS_OK);
    assert_ptr_equal(normal, path);
    assert_string_equal(path, "ab/cd");
}

static uint32_t next_random(uint32_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* A simple model of the normal form: split the path, drop segments, join the rest. The reasons for
 * a refusal apply to the path and to the result. */
static bool model_refuses(const char *path, size_t len) {
    return len == 0 || path[0] == '/' || (path[0] == '~' && (len == 1 || path[1] == '/')) ||
           (len > 1 && path[1] == ':' && strchr("abcCxyzABC", path[0]) != NULL) ||
           strchr(" \t", path[0]) != NULL || strchr(" \t", path[len - 1]) != NULL ||
           memchr(path, 0, len) != NULL || memchr(path, '\\', len) != NULL ||
           bs_utf8_valid_prefix(path, len) != len;
}

static bool model(const char *path, size_t len, char *out, size_t *out_len) {
    if (model_refuses(path, len))
        return false;
    size_t used = 0;
    for (size_t at = 0; at < len;) {
        size_t n = 0;
        while (at + n < len && path[at + n] != '/')
            n++;
        if (n == 2 && memcmp(path + at, "..", 2) == 0)
            return false;
        if (n > 0 && !(n == 1 && path[at] == '.')) {
            if (used > 0)
                out[used++] = '/';
            memcpy(out + used, path + at, n);
            used += n;
        }
        at += n + 1;
    }
    if (used == 0)
        out[used++] = '.';
    *out_len = used;
    return !model_refuses(out, used);
}

/* Append a text without a NUL; return the new length. */
static size_t append_text(char *to, size_t at, const char *text) {
    for (; *text != '\0'; text++)
        to[at++] = *text;
    return at;
}

static void random_paths_agree_with_the_model(void **state) {
    (void)state;
    static const char *const pieces[] = {"a",  "b",        "/",    "/",      ".",        ".",
                                         "..", "/./",      "//",   "\\",     "~",        " ",
                                         "c:", "\xC3\xA9", "\xC3", "longer", "abcdefgh", "\t"};
    uint32_t seed = 20261120;
    for (int round = 0; round < 300000; round++) {
        char path[400];
        size_t len = 0;
        uint32_t n = 1 + next_random(&seed) % (round % 8 == 0 ? 40 : 9);
        /* the first pieces are rarely refused, so most long paths stay valid up to their end */
        uint32_t choice = next_random(&seed) % 3 == 0 ? LENGTH(pieces) : 6;
        for (uint32_t i = 0; i < n; i++) {
            const char *piece = pieces[next_random(&seed) % choice];
            if (i > 0 && next_random(&seed) % 4 == 0)
                piece = pieces[15 + next_random(&seed) % 2];
            len = append_text(path, len, piece);
        }
        char expected[400];
        size_t expected_len = 0;
        bool allowed = model(path, len, expected, &expected_len);
        size_t normal_len = 0;
        char *normal = normal_form(path, len, &normal_len);
        if ((normal != NULL) != allowed)
            fail_msg("`%.*s`: expected %d", (int)len, path, allowed);
        if (normal != NULL) {
            assert_int_equal(normal_len, expected_len);
            assert_memory_equal(normal, expected, expected_len);
            size_t again_len = 0;
            char *again = normal_form(normal, normal_len, &again_len);
            assert_non_null(again);
            assert_string_equal(again, normal);
            free(again);
        }
        free(normal);
        if (bs_path_is_plain(path, len) && !bs_path_is_plain_portable(path, len))
            fail_msg("`%.*s` is taken for plain", (int)len, path);
    }
}

static void the_scan_finds_each_error_at_each_offset(void **state) {
    (void)state;
    static const char *const faults[] = {"\\", "//", "/./", "/../", "\xFF", "/.", "/..", "/"};
    for (size_t len = 1; len < 140; len++) {
        char path[160];
        memset(path, 'x', sizeof path);
        assert_true(bs_path_is_plain(path, len));
        for (size_t f = 0; f < LENGTH(faults); f++) {
            size_t n = strlen(faults[f]);
            for (size_t at = 0; at + n <= len; at++) {
                bool at_end = at + n == len;
                if ((f >= 5) != at_end)
                    continue; /* the last pieces are errors only at the end of a path */
                memset(path, 'x', len);
                memcpy(path + at, faults[f], n);
                char *exact = malloc(len);
                assert_non_null(exact);
                memcpy(exact, path, len);
                assert_false(bs_path_is_plain(exact, len));
                assert_false(bs_path_is_plain_portable(exact, len));
                free(exact);
            }
        }
        for (size_t at = 0; at < len; at++) {
            memset(path, 'x', len);
            path[at] = '\0';
            assert_false(bs_path_is_plain(path, len));
            path[at] = '.';
            assert_int_equal(bs_path_is_plain(path, len), len > 1);
        }
    }
}

static void characters_are_read_across_blocks(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        bool good;
    } rows[] = {{"\xC3\xA9", true},  {"\xE2\x82\xAC", true}, {"\xF0\x9F\x98\x80", true},
                {"\xC3", false},     {"\xE2\x82", false},    {"\xF0\x9F\x98", false},
                {"\xC0\xAF", false}, {"\xED\xA0\x80", false}};
    for (size_t len = 4; len < 200; len++) {
        for (size_t r = 0; r < LENGTH(rows); r++) {
            size_t n = strlen(rows[r].bytes);
            for (size_t at = 0; at + n <= len; at++) {
                char *path = malloc(len);
                assert_non_null(path);
                memset(path, 'x', len);
                memcpy(path + at, rows[r].bytes, n);
                if (bs_path_is_plain(path, len) != rows[r].good)
                    fail_msg("row %zu at %zu of %zu", r, at, len);
                free(path);
            }
        }
    }
}

/* The positions of separators must be relative to the path, even if the path is a part of a longer
 * text. */
static void separators_are_marked_at_their_positions(void **state) {
    (void)state;
    for (size_t len = 1; len < 140; len++) {
        for (size_t at = 1; at + 1 < len; at++) {
            char path[160] = "./";
            char buffer[160];
            memset(path + 2, 'x', len);
            path[2 + at] = '/';
            for (size_t skip = 0; skip <= 2; skip += 2) {
                struct bs_path_view view = {0};
                assert_null(bs_path_view(path + 2 - skip, len + skip, buffer, &view));
                assert_int_equal(view.len, len);
                if (view.marks.known)
                    assert_int_equal(view.marks.slashes, UINT64_C(1) << at);
                assert_int_equal(view.marks.known && len > 64, false);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_and_dot_segments_are_dropped),
        cmocka_unit_test(invalid_paths_are_refused),
        cmocka_unit_test(a_refusal_does_not_change_the_outputs),
        cmocka_unit_test(a_path_is_rewritten_in_place),
        cmocka_unit_test(random_paths_agree_with_the_model),
        cmocka_unit_test(the_scan_finds_each_error_at_each_offset),
        cmocka_unit_test(characters_are_read_across_blocks),
        cmocka_unit_test(separators_are_marked_at_their_positions),
    };
    return cmocka_run_group_tests_name("policy/path", tests, NULL, NULL);
}
