#include "policy/globs.h"

#include <stdlib.h>

#include "support/glob_oracle.h"
#include "support/harness.h"
#include "support/spent.h"

static void globs_match_as_the_contract_says(void **state) {
    (void)state;
    static const struct match_row rows[] = {
        {"src/*.c", "src/a.c", true},
        {"src/*.c", "src/.c", true},
        {"src/*.c", "src/x/a.c", false},
        {"*/x", "a/x", true},
        {"*/x", "x", false},
        {"a/*/b", "a/x/b", true},
        {"a/*/b", "a/b", false},
        {"a?c", "abc", true},
        {"a?c", "a\u00e9c", true},
        {"a?c", "a\U0001F600c", true},
        {"a??c", "a\u00e9c", false},
        {"a?c", "ac", false},
        {"a?c", "a/c", false},
        {"?", ".", false},
        {"\u00e9?", "\u00e9\u00e9", true},
        {"?\u00e9", "\u00e9", false},
        {"*\u00a9", "\u00e9", false},
        {"**/x", "x", true},
        {"**/x", "a/b/x", true},
        {"**/x", "ax", false},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"a/**/b", "ab", false},
        {"a/**/b/**/c", "a/b/c", true},
        {"a/**/**/b", "a/b", true},
        {"a/**", "a", true},
        {"a/**", "a/", true},
        {"a/**", "a/b/c", true},
        {"a/**", "ab", false},
        {"a/**/**", "a", true},
        {"**/**", ".", true},
        {"**/secrets/**", "a/secrets", true},
        {"**/secrets/**", "a/secrets/k", true},
        {"**/secrets/**", "a/secretsk", false},
        {"*/**", "a", true},
        {"*/**", ".", false},
        {"a**", "a", true},
        {"a**", "a/b", true},
        {"a**", "b", false},
        {"a/**b", "a/x/b", true},
        {"a/**b", "a", false},
        {"a**/b", "ax/y/b", true},
        {"a**/b", "b", false},
        {"**b", "a/ab", true},
        {"**/*", ".", false},
        {"**/*", "a/b", true},
        {"**", ".", true},
        {"./**", ".", true},
        {".", ".", true},
        {".", "a", false},
        {"*", ".", false},
        {"a***", "a/b", true},
        {"a/***", "a", true},
        {"*****", "a/b", true},
        {"f*o/*/*", "foo/b/c", true},
        {"a*bc*d", "axbbcbcd", true},
        {"*.yaml", "backup.yaml.yaml", true},
        {"*.env", ".env", true},
        {"[a]", "a", false},
        {"[a]", "[a]", true},
        {"{a,b}", "a", false},
        {"a+(b)", "a+(b)", true},
        {"a\\b", "a/b", true},
        {" a ", "a", true},
        {"!a", "!a", true},
        {"!!a", "!!a", true},
        {"!a", "b", false},
        {"a\nb", "a\nb", true},
        {"A", "a", false},
    };
    assert_matches(BS_CASE_SENSITIVE, rows, LENGTH(rows));
}

static void invalid_globs_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *pattern;
        size_t len;
    } rows[] = {{"", 0},     {"  ", 2},     {"/a", 2},    {"~", 1},    {"~/a", 3},
                {"C:/a", 4}, {"a/../b", 6}, {"a\0b", 3},  {"\xFF", 1}, {"\\a", 2},
                {"..", 2},   {"a\xC3", 2},  {"./~/a", 5}, {" /", 2}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bs_glob *glob = NULL;
        struct bs_error err = BS_ERROR_INIT;
        assert_int_equal(
            bs_glob_compile(rows[i].pattern, rows[i].len, BS_CASE_SENSITIVE, &glob, &err),
            BS_E_INVALID);
        assert_null(glob);
        assert_true(strlen(err.message) > 5);
    }
}

static void a_bad_path_is_an_error_and_no_answer(void **state) {
    (void)state;
    struct bs_glob *glob = compiled(BS_CASE_SENSITIVE, "**", 2);
    bool matched = false;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(bs_glob_match(glob, "a/..", 4, &matched, &err), BS_E_INVALID);
    assert_int_equal(bs_glob_match(glob, "", 0, &matched, &err), BS_E_INVALID);
    bs_glob_free(glob);
    bs_glob_free(NULL);
}

static void the_longest_glob_is_accepted_and_a_longer_one_refused(void **state) {
    (void)state;
    char *text = malloc(BS_GLOB_MOST_BYTES + 1);
    assert_non_null(text);
    memset(text, 'x', BS_GLOB_MOST_BYTES + 1);
    struct bs_glob *glob = compiled(BS_CASE_SENSITIVE, text, BS_GLOB_MOST_BYTES);
    bool matched = false;
    assert_int_equal(bs_glob_match(glob, text, BS_GLOB_MOST_BYTES, &matched, NULL), BS_OK);
    assert_true(matched);
    assert_int_equal(bs_glob_match(glob, text, BS_GLOB_MOST_BYTES - 1, &matched, NULL), BS_OK);
    assert_false(matched);
    bs_glob_free(glob);
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(bs_glob_compile(text, BS_GLOB_MOST_BYTES + 1, BS_CASE_SENSITIVE, &glob, &err),
                     BS_E_INVALID);
    assert_string_equal(err.message, "the glob is longer than 65536 bytes");
    free(text);
}

static uint32_t next_random(uint32_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Append a text without a NUL; return the new length. */
static size_t append_text(char *to, size_t at, const char *text) {
    for (; *text != '\0'; text++)
        to[at++] = *text;
    return at;
}

/* The globs are so long that their states need several words. Half of the paths are made from the
 * glob. */
static void long_random_globs_decide_like_the_oracle(void **state) {
    (void)state;
    static const char *const pieces[] = {"a",  "b",    "ab", "a",  "\u00e9",     "?",  "*",
                                         "**", "/**/", "/",  "/a", "\U0001F600", "b/", "a"};
    uint32_t seed = 1120;
    for (int round = 0; round < 4000; round++) {
        char glob[1400];
        char path[1400];
        size_t glob_len = 0;
        size_t path_len = 0;
        uint32_t n = 1 + next_random(&seed) % (round % 4 == 0 ? 200 : 12);
        for (uint32_t i = 0; i < n; i++) {
            const char *piece = pieces[next_random(&seed) % LENGTH(pieces)];
            char last = glob_len > 0 ? glob[glob_len - 1] : '/';
            if ((piece[0] == '/' && last == '/') || (piece[0] == '*' && last == '*'))
                piece = "a";
            glob_len = append_text(glob, glob_len, piece);
            static const char *const read_as[] = {"", "a", "ab", "/b/", "\u00e9", "b", "a/a"};
            const char *part = piece;
            if (strpbrk(piece, "*?") != NULL)
                part = read_as[next_random(&seed) % LENGTH(read_as)];
            if (next_random(&seed) % 64 == 0)
                part = read_as[next_random(&seed) % LENGTH(read_as)];
            if (part[0] == '/' && (path_len == 0 || path[path_len - 1] == '/'))
                part++;
            path_len = append_text(path, path_len, part);
        }
        while (glob[glob_len - 1] == '/')
            glob_len--;
        while (path_len > 0 && path[path_len - 1] == '/')
            path_len--;
        if (path_len == 0)
            path[path_len++] = '.';
        struct bs_glob *compiled_glob = compiled(BS_CASE_SENSITIVE, glob, glob_len);
        bool matched = false;
        assert_int_equal(bs_glob_match(compiled_glob, path, path_len, &matched, NULL), BS_OK);
        bs_glob_free(compiled_glob);
        if (matched != bs_oracle_glob_matches(glob, glob_len, path, path_len))
            fail_msg("`%.*s` and `%.*s`", (int)glob_len, glob, (int)path_len, path);
    }
}

static double ms_to_match(const char *unit, size_t units, const char *tail, size_t path_len) {
    char *pattern = malloc(units * strlen(unit) + strlen(tail));
    char *path = malloc(path_len);
    assert_non_null(pattern);
    assert_non_null(path);
    size_t len = 0;
    for (size_t i = 0; i < units; i++)
        len = append_text(pattern, len, unit);
    len = append_text(pattern, len, tail);
    memset(path, 'a', path_len);
    struct bs_glob *glob = compiled(BS_CASE_SENSITIVE, pattern, len);
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        bool matched = true;
        double start = spent_ms();
        assert_int_equal(bs_glob_match(glob, path, path_len, &matched, NULL), BS_OK);
        double took = spent_ms() - start;
        assert_false(matched);
        best = took < best ? took : best;
    }
    bs_glob_free(glob);
    free(pattern);
    free(path);
    return best;
}

/* A naive backtracking matcher would take years for these globs. The limits are far above the
 * measured times (README of the bench), so that a sanitizer on a busy machine stays below them. */
static void no_glob_takes_exponential_time(void **state) {
    (void)state;
    static const struct {
        const char *unit;
        const char *tail;
    } rows[] = {{"*a", "b"}, {"*a?", "b"}, {"*x*y*z", "*"}, {"**a", "b"}, {"?*", "b"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        double small = ms_to_match(rows[i].unit, 30, rows[i].tail, 100000);
        double large = ms_to_match(rows[i].unit, 1365, rows[i].tail, 100000);
        assert_true(small < 100);
        assert_true(large < 2000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs_match_as_the_contract_says),
        cmocka_unit_test(invalid_globs_are_refused),
        cmocka_unit_test(a_bad_path_is_an_error_and_no_answer),
        cmocka_unit_test(the_longest_glob_is_accepted_and_a_longer_one_refused),
        cmocka_unit_test(long_random_globs_decide_like_the_oracle),
        cmocka_unit_test(no_glob_takes_exponential_time),
    };
    return cmocka_run_group_tests_name("policy/glob", tests, NULL, NULL);
}
