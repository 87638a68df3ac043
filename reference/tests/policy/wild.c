#include "policy/match/wild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/glob_oracle.h"
#include "support/harness.h"
#include "support/spent.h"

static const char *const letters[] = {"a", "b", "\u00e9", "?", "*"};
enum { LITERAL_LETTERS = 3, LONGEST = SLOW_BUILD ? 4 : 5, ROOM = 2 * LONGEST + 1 };

/* The text of some letters with this number. */
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
            if (bs_wild_matches(glob, strlen(glob), text, strlen(text)) != expected)
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
            assert_true(bs_wild_is_simple(glob, strlen(glob)));
            if (strstr(glob, "**") != NULL)
                continue;
            every_text_is_decided(glob);
            if (n <= 2) {
                char looked_for[ROOM + 4];
                (void)snprintf(looked_for, sizeof looked_for, "*a%sb*", glob);
                every_text_is_decided(looked_for);
            }
        }
    }
}

static bool matches(const char *glob, const char *text) {
    return bs_wild_matches(glob, strlen(glob), text, strlen(text));
}

static void a_piece_is_looked_for_up_to_a_word(void **state) {
    (void)state;
    char glob[80];
    char text[160];
    for (size_t n = 62; n <= 66; n++) {
        for (size_t asking = 1; asking < n - 1; asking++) {
            /* *ab?b…bc* */
            memset(glob, 'b', sizeof glob);
            glob[0] = '*';
            glob[1] = 'a';
            glob[1 + asking] = '?';
            memcpy(glob + n, "c*", 3);
            assert_int_equal(bs_wild_is_simple(glob, strlen(glob)), n <= 64);
            /* At the ends, nobody has to look. */
            assert_true(bs_wild_is_simple(glob + 1, n + 1));
            assert_true(bs_wild_is_simple(glob, n + 1));
            if (n > 64)
                continue;
            memset(text, 'a', sizeof text);
            memcpy(text + 70, glob + 1, n);
            text[70 + n] = '\0';
            text[70 + asking] = 'x';
            assert_true(matches(glob, text));
            text[70 + n - 1] = 'b';
            assert_false(matches(glob, text));
            memmove(text + 70 + asking + 1, text + 70 + asking, n - asking + 1);
            memcpy(text + 70 + asking, "\u00e9", 2);
            assert_false(matches(glob, text));
            text[70 + n] = 'c';
            assert_true(matches(glob, text));
        }
    }
}

/* Trying each place by itself takes seconds, or minutes. */
static void no_place_is_tried_by_itself(void **state) {
    (void)state;
    enum { TEXT = 8000000 };
    static const struct {
        const char *start;
        char filler;
        size_t n;
        const char *end;
    } rows[] = {{"*a", '?', 4096, ""},   {"*a", '?', 4096, "b"},  {"*a", '?', 62, "b*"},
                {"*a", 'a', 4096, "b*"}, {"*?", '?', 4096, "b*"}, {"", '?', 4096, "*b"}};
    char *text = malloc(TEXT);
    assert_non_null(text);
    memset(text, 'a', TEXT);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char filler[4097] = "";
        char glob[4200];
        memset(filler, rows[i].filler, rows[i].n);
        (void)snprintf(glob, sizeof glob, "%s%s%s", rows[i].start, filler, rows[i].end);
        assert_true(bs_wild_is_simple(glob, strlen(glob)));
        double start = spent_ms();
        assert_int_equal(bs_wild_matches(glob, strlen(glob), text, TEXT), rows[i].end[0] == '\0');
        double took = spent_ms() - start;
        if (took > 400)
            fail_msg("row %zu: %.0f ms", i, took);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_glob_decides_every_short_segment),
        cmocka_unit_test(a_piece_is_looked_for_up_to_a_word),
        cmocka_unit_test(no_place_is_tried_by_itself),
    };
    return cmocka_run_group_tests_name("policy/wild", tests, NULL, NULL);
}
