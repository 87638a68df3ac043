#include "policy/match/backtrack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/append.h"
#include "support/glob_oracle.h"
#include "support/harness.h"
#include "support/spent.h"

static const char *const letters[] = {"a", "b", "\u00e9", "?", "*"};
enum { LITERAL_LETTERS = 3, LONGEST = SLOW_BUILD ? 4 : 5, ROOM = 2 * LONGEST + 1 };

static bool matches(const char *glob, const char *path) {
    const struct bs_pattern pattern = {glob, strlen(glob)};
    return bs_backtrack_matches(&pattern, path, strlen(path));
}

static bool fits(const char *glob) {
    const struct bs_pattern pattern = {glob, strlen(glob)};
    return bs_backtrack_fits(&pattern);
}

/* Write text number `number` of all texts of `n` letters. */
static void spell(char *out, size_t n, size_t number, size_t base) {
    for (size_t i = 0; i < n; i++, number /= base) {
        const char *letter = letters[number % base];
        memcpy(out, letter, strlen(letter) + 1);
        out += strlen(letter);
    }
}

static size_t power(size_t base, size_t n) { return n == 0 ? 1 : base * power(base, n - 1); }

static void every_text_is_decided(const char *glob) {
    for (size_t n = 1; n <= LONGEST; n++) {
        for (size_t number = 0; number < power(LITERAL_LETTERS, n); number++) {
            char text[ROOM];
            spell(text, n, number, LITERAL_LETTERS);
            bool expected = bs_oracle_glob_matches(glob, strlen(glob), text, strlen(text));
            if (matches(glob, text) != expected)
                fail_msg("`%s` and `%s`: expected %d", glob, text, expected);
        }
    }
}

static void every_short_glob_decides_every_short_segment(void **state) {
    (void)state;
    for (size_t n = 1; n <= LONGEST; n++) {
        for (size_t number = 0; number < power(LENGTH(letters), n); number++) {
            char glob[ROOM];
            spell(glob, n, number, LENGTH(letters));
            bool gap = strcmp(glob, "**") == 0;
            if (strstr(glob, "**") != NULL && !gap) {
                assert_false(fits(glob));
                continue;
            }
            assert_true(fits(glob));
            every_text_is_decided(glob);
            if (n <= 2 && !gap) {
                char looked_for[ROOM + 4];
                (void)snprintf(looked_for, sizeof looked_for, "*a%sb*", glob);
                every_text_is_decided(looked_for);
            }
        }
    }
}

static void names_between_gaps_are_found(void **state) {
    (void)state;
    static const char *const globs[] = {"**/a/b",       "**/a/**/b",    "a/**/b/a",  "**/a/b/**",
                                        "**/*/a",       "a/**",         "**/a/*/**", "**/a/**/a/**",
                                        "**/a/**/**/b", "**/a?/**/b*b", "*/**",      "**/**/a"};
    static const char *const names[] = {"a", "b", "ab", "bb"};
    for (size_t depth = 1; depth <= 6; depth++) {
        for (size_t number = 0; number < power(LENGTH(names), depth); number++) {
            char path[64] = "";
            size_t rest = number;
            for (size_t i = 0; i < depth; i++, rest /= LENGTH(names)) {
                append(path, sizeof path, i > 0 ? "/" : "");
                append(path, sizeof path, names[rest % LENGTH(names)]);
            }
            for (size_t g = 0; g < LENGTH(globs); g++) {
                bool expected =
                    bs_oracle_glob_matches(globs[g], strlen(globs[g]), path, strlen(path));
                if (matches(globs[g], path) != expected)
                    fail_msg("`%s` and `%s`: expected %d", globs[g], path, expected);
            }
        }
    }
}

static void the_root_has_no_segment(void **state) {
    (void)state;
    static const char *const yes[] = {".", "**", "**/**"};
    static const char *const no[] = {"*", "?", "a", "**/*", "*/**", "**/a", "a/**"};
    for (size_t i = 0; i < LENGTH(yes); i++)
        assert_true(matches(yes[i], ".") && matches(yes[i], ""));
    for (size_t i = 0; i < LENGTH(no); i++)
        assert_false(matches(no[i], ".") || matches(no[i], ""));
    assert_false(matches(".", "a"));
}

static void globs_with_too_much_backtracking_do_not_fit(void **state) {
    (void)state;
    for (size_t n = BS_BACKTRACK_MOST_BYTES - 2; n <= BS_BACKTRACK_MOST_BYTES + 2; n++) {
        char glob[100];
        memset(glob, 'b', sizeof glob);
        glob[0] = '*';
        memcpy(glob + 1 + n, "*", 2);
        assert_int_equal(fits(glob), n <= BS_BACKTRACK_MOST_BYTES);
        /* This fits into the limit, because no position at the end of a glob is tried twice. */
        assert_true(fits(glob + 1));
        glob[1 + n] = '\0';
        assert_true(fits(glob));
        glob[1 + n] = '*';
        glob[n / 2] = '*';
        assert_true(fits(glob));
    }
    for (size_t n = BS_BACKTRACK_MOST_SEGMENTS - 2; n <= BS_BACKTRACK_MOST_SEGMENTS + 2; n++) {
        char glob[100] = "**";
        for (size_t i = 0; i < n; i++)
            append(glob, sizeof glob, "/a");
        assert_int_equal(fits(glob), n <= BS_BACKTRACK_MOST_SEGMENTS);
        assert_true(fits(glob + 3));
        append(glob, sizeof glob, "/**");
        assert_int_equal(fits(glob), n <= BS_BACKTRACK_MOST_SEGMENTS);
    }
    assert_false(fits("a**"));
    assert_false(fits("x/**a/y"));
}

/* The globs have the longest pieces that are allowed. They differ from the text only in the last
 * byte or segment, so each position takes the most steps. */
static void time_grows_only_with_the_path(void **state) {
    (void)state;
    enum { BYTES = SLOW_BUILD ? 100000 : 1000000 };
    char *path = malloc(BYTES + 1);
    char piece[80] = "*";
    char names[160] = "**";
    assert_non_null(path);
    memset(piece + 1, 'a', BS_BACKTRACK_MOST_BYTES - 1);
    append(piece, sizeof piece, "b*");
    for (size_t i = 1; i < BS_BACKTRACK_MOST_SEGMENTS; i++)
        append(names, sizeof names, "/a");
    append(names, sizeof names, "/b/**");
    const char *const globs[] = {piece, names, "*a*a*a*a*a*a*a*a*a*b", "**/a*/**/a*/**/a*/**/b"};
    for (size_t i = 0; i < LENGTH(globs); i++) {
        assert_true(fits(globs[i]));
        for (size_t at = 0; at < BYTES; at++)
            path[at] = i % 2 == 1 && at % 2 == 1 ? '/' : 'a';
        path[BYTES - 1] = 'a';
        path[BYTES] = '\0';
        double start = spent_ms();
        assert_false(matches(globs[i], path));
        double took = spent_ms() - start;
        if (took > 1000)
            fail_msg("`%s`: %.0f ms", globs[i], took);
    }
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_glob_decides_every_short_segment),
        cmocka_unit_test(names_between_gaps_are_found),
        cmocka_unit_test(the_root_has_no_segment),
        cmocka_unit_test(globs_with_too_much_backtracking_do_not_fit),
        cmocka_unit_test(time_grows_only_with_the_path),
    };
    return cmocka_run_group_tests_name("policy/backtrack", tests, NULL, NULL);
}
