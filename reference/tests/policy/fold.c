#include "policy/path/fold.h"

#include <stdlib.h>
#include <string.h>

#include "policy/globs.h"

/* Fold in blocks of exactly the documented size, so that a sanitizer notices one byte too many. */
static char *folded(const char *text, size_t len, size_t *out_len) {
    char *copy = malloc(len > 0 ? len : 1);
    char *out = malloc(BS_FOLD_ROOM(len));
    assert_non_null(copy);
    assert_non_null(out);
    memcpy(copy, text, len);
    assert_true(bs_fold(copy, len, out, out_len));
    assert_in_range(*out_len, 0, BS_FOLD_ROOM(len) - 1);
    free(copy);
    out[*out_len] = '\0';
    return out;
}

static void text_is_folded_and_composed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *folded;
    } rows[] = {
        {"", ""},
        {"SECRET.env", "secret.env"},
        {"A/b[C]^_`{|}@Z", "a/b[c]^_`{|}@z"},
        {"\u00c9", "\u00e9"},
        {"E\u0301", "\u00e9"},
        {"abcE\u0301F", "abc\u00e9f"},
        {"e\u0301\u0323", "\u1eb9\u0301"},
        {"\u212a", "k"},                  /* Kelvin sign: mapped by NFC, not by folding */
        {"\u017f", "s"},                  /* long s */
        {"\u03a3\u03c2", "\u03c3\u03c3"}, /* both small letters sigma */
        {"\u1e9e", "\u00df"},             /* capital sharp s; does not become ss */
        {"\u00df", "\u00df"},
        {"\u0130", "\u0130"}, /* the capital I with a dot has no simple folding */
        {"\u0131", "\u0131"}, /* the small i without a dot has none either */
        {"\ufb01", "\ufb01"}, /* a ligature stays, because compatibility mappings are not applied */
        {"\uff0f", "\uff0f"}, /* a full-width slash is not a slash */
        /* the full-width A folds to the full-width a, not to the ASCII letter */
        {"\uff21", "\uff41"},
        {"\u1f88", "\u1f80"},
        {"\u0345", "\u03b9"}, /* a combining mark that folds to a letter */
        {"\u01c5", "\u01c6"},
        {"\u10a0", "\u2d00"},
        {"\u13a0", "\u13a0"}, /* Cherokee letters fold to upper case */
        {"\uab70", "\u13a0"},
        {"\U00010400", "\U00010428"},
        {"\u1100\u1161", "\uac00"}, /* Hangul letters are composed to a syllable */
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t len = 0;
        char *out = folded(rows[i].text, strlen(rows[i].text), &len);
        if (strcmp(out, rows[i].folded) != 0)
            fail_msg("`%s` became `%s`", rows[i].text, out);
        free(out);
    }
}

static size_t encode(uint32_t point, char *out) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t n = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)((0xF00 >> n & 0xF0) | point);
    return n;
}

static void folding_every_code_point_fits_and_is_idempotent(void **state) {
    (void)state;
    for (uint32_t point = 1; point <= 0x10FFFF; point++) {
        if (point >= 0xD800 && point <= 0xDFFF)
            continue;
        char text[24];
        size_t n = encode(point, text);
        for (size_t i = 1; i < 6; i++)
            memcpy(text + i * n, text, n);
        char out[BS_FOLD_ROOM(sizeof text)];
        char again[BS_FOLD_ROOM(sizeof out)];
        size_t len = 0;
        size_t again_len = 0;
        assert_true(bs_fold(text, 6 * n, out, &len));
        assert_true(bs_fold(out, len, again, &again_len));
        if (len >= BS_FOLD_ROOM(6 * n) || again_len != len || memcmp(out, again, len) != 0)
            fail_msg("U+%04X", (unsigned)point);
    }
}

static void long_texts_fold_like_short_ones(void **state) {
    (void)state;
    enum { PIECES = 3000 };
    static const char piece[] = "E\u0301\u212a\U0001D160x";
    size_t piece_len = sizeof piece - 1;
    char *text = malloc(PIECES * piece_len);
    assert_non_null(text);
    for (size_t i = 0; i < PIECES; i++)
        memcpy(text + i * piece_len, piece, piece_len);
    size_t one_len = 0;
    size_t len = 0;
    char *one = folded(piece, piece_len, &one_len);
    for (size_t pieces = 1; pieces <= PIECES; pieces += 37) {
        char *all = folded(text, pieces * piece_len, &len);
        assert_int_equal(len, pieces * one_len);
        assert_memory_equal(all + (pieces - 1) * one_len, one, one_len);
        free(all);
    }
    free(one);
    free(text);
}

static void globs_fold_on_both_sides(void **state) {
    (void)state;
    static const struct match_row rows[] = {
        {"**/*.ENV", "a/secret.env", true},
        {"**/*.env", "A/SECRET.ENV", true},
        {"caf\u00e9", "CAFE\u0301", true},
        {"cafe\u0301", "CAF\u00c9", true},
        {"caf?", "CAFE\u0301", true},
        {"k*", "\u212aelvin", true},
        {"stra\u00dfe", "strasse", false},
        {"stra\u00dfe", "STRA\u1e9eE", true},
        {"\ufb01", "fi", false},
        {"i", "\u0130", false},
        {".", ".", true},
        {"a/**", "A", true},
    };
    assert_matches(BS_CASE_FOLD, rows, LENGTH(rows));
    assert_false(matches(BS_CASE_SENSITIVE, "a", "A"));
    assert_false(matches(BS_CASE_SENSITIVE, "caf\u00e9", "cafe\u0301"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_folded_and_composed),
        cmocka_unit_test(folding_every_code_point_fits_and_is_idempotent),
        cmocka_unit_test(long_texts_fold_like_short_ones),
        cmocka_unit_test(globs_fold_on_both_sides),
    };
    return cmocka_run_group_tests_name("policy/fold", tests, NULL, NULL);
}
