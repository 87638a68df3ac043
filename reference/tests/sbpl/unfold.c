#include "sbpl/unfold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "policy/path/fold.h"
#include "support/harness.h"

static int set_up(void **state) {
    struct bs_unfold *unfold = malloc(sizeof *unfold);
    *state = unfold;
    if (unfold == NULL)
        return -1;
    bs_unfold_open(unfold);
    return 0;
}

static int tear_down(void **state) {
    free(*state);
    return 0;
}

/* Fold a text and return its expression; the caller frees it. */
static char *unfolded(struct bs_unfold *unfold, const char *text) {
    char folded[256];
    size_t len = 0;
    struct bs_buf out = BS_BUF_INIT;
    assert_true(bs_fold(text, strlen(text), folded, &len));
    char *exact = malloc(len > 0 ? len : 1);
    assert_non_null(exact);
    memcpy(exact, folded, len);
    if (!bs_unfold_put(unfold, exact, len, 1000, &out))
        fail_msg("`%s` has too many spellings", text);
    free(exact);
    bs_buf_char(&out, '\0');
    assert_false(out.failed);
    return out.data;
}

static void each_letter_has_its_spellings(void **state) {
    static const char *const rows[][2] = {
        {"", ""},
        {"a", "[aA]"},
        {"Z9_", "[zZ]9_"},
        {"k", "(k|K|\u212a)"},
        {"S", "(s|S|\u017f)"},
        {";.", "(;|\u037e)\\\\."},
        {"\u00df", "(\u00df|\u1e9e)"},
        {"\u03c3", "(\u03c3|\u03a3|\u03c2)"},
        {"\u00e5", "(\u00e5|A\u030a|a\u030a|\u00c5|\u212b)"},
        {"\u0130", "(\u0130|I\u0307)"},
        {"i\u0307", "i\u0307"},
        {"\u1e61", "(\u1e61|S\u0307|s\u0307|\u017f\u0307|\u1e60|\u1e9b)"},
        {"\uac01", "(\uac01|\u1100\u1161\u11a8|\uac00\u11a8)"},
        {"\u8c48", "(\u8c48|\uf900)"},
        {"\u0958", "(\u0915\u093c|\u0958)"},
        {"\u1fb3", "(\u1fb3|\u0391\u0345|\u03b1\u0345|\u1fbc)"},
        {"a\u00ea", "[aA](\u00ea|E\u0302|e\u0302|\u00ca)"},
        {"\u00e9", "(\u00e9|E\u0301|E\u0341|e\u0301|e\u0341|\u00c9)"},
        {"e\u0302\u0323", "(\u1ec7|E\u0302\u0323|E\u0323\u0302|e\u0302\u0323|"
                          "e\u0323\u0302|\u00ca\u0323|\u00ea\u0323|\u1eb8\u0302|"
                          "\u1eb9\u0302|\u1ec6)"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char *out = unfolded(*state, rows[i][0]);
        if (strcmp(out, rows[i][1]) != 0)
            fail_msg("`%s` became `%s`", rows[i][0], out);
        free(out);
    }
}

/* True if the expression contains the spelling as a separate alternative. */
static bool has(const char *expression, const char *spelling) {
    size_t len = strlen(spelling);
    if (strcmp(expression, spelling) == 0 || strchr("\\[", expression[0]) != NULL)
        return strstr(expression, spelling) != NULL;
    for (const char *at = expression; (at = strstr(at, spelling)) != NULL; at++) {
        if (at > expression && strchr("(|", at[-1]) != NULL && strchr("|)", at[len]) != NULL)
            return true;
    }
    return false;
}

static void a_mark_that_folds_to_a_letter_stays_with_the_character_before_it(void **state) {
    char *out = unfolded(*state, "k\u03b9");
    assert_true(has(out, "k\u0345"));
    assert_true(has(out, "\u212a\u0399"));
    free(out);
    /* Alpha and the mark compose to one character, which folds differently from the two parts. */
    out = unfolded(*state, "\u03b1\u03b9");
    assert_true(has(out, "\u0391\u1fbe"));
    assert_null(strstr(out, "\u0345"));
    free(out);
    /* If an accent is between alpha and iota, these two do not compose. */
    out = unfolded(*state, "\u03ac\u03b9");
    assert_true(has(out, "\u0386\u0345"));
    assert_true(has(out, "\u1fbc\u0301"));
    assert_false(has(out, "\u03ac\u0345"));
    free(out);
}

/* For every code point, check that it is among the spellings of the text to which it folds. */
static void the_spellings_of_every_code_point_are_complete(void **state) {
    for (int32_t point = 0x20; point < 0x110000; point += SLOW_BUILD ? 7 : 1) {
        char text[8] = "";
        if (point == 0x7F || strchr("*?/", point) != NULL || (point >= 0xD800 && point < 0xE000))
            continue;
        (void)utf8proc_encode_char(point, (uint8_t *)text);
        char *out = unfolded(*state, text);
        if (!has(out, text))
            fail_msg("U+%04X is not in `%s`", (unsigned)point, out);
        free(out);
    }
}

static void a_text_with_too_many_spellings_is_refused_quickly(void **state) {
    char many[512] = "a";
    size_t len = 1;
    struct bs_buf out = BS_BUF_INIT;
    /* marks of six classes in a row can be written in hundreds of orders */
    static const char *const marks[] = {"\u0327", "\u0323", "\u0301", "\u0345",
                                        "\u0334", "\u0321", "\u031b", "\u05b0"};
    for (int i = 0; i < 8; i++)
        len += (size_t)snprintf(many + len, sizeof many - len, "%s", marks[i]);
    assert_false(bs_unfold_put(*state, many, strlen(many), 1000, &out));
    assert_false(out.failed);
    /* The text has more parts than the limit. It is refused although the parts can be in only one
     * order. */
    len = 1;
    for (int i = 0; i < 40; i++)
        len += (size_t)snprintf(many + len, sizeof many - len, "\u0302");
    assert_false(bs_unfold_put(*state, many, strlen(many), 1000, &out));
    many[1 + 2 * 20] = '\0';
    assert_true(bs_unfold_put(*state, many, strlen(many), 1000, &out));
    bs_buf_clear(&out);
}

static void no_more_than_the_limit_is_written(void **state) {
    for (size_t most = 0; most < 12; most++) {
        struct bs_buf out = BS_BUF_INIT;
        assert_int_equal(bs_unfold_put(*state, "ak.", 3, most, &out), most >= 4 + 9 + 3);
        bs_buf_clear(&out);
        out = (struct bs_buf)BS_BUF_INIT;
        assert_int_equal(bs_unfold_put(*state, "\u00df", 2, most, &out), most >= 8);
        bs_buf_clear(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_letter_has_its_spellings),
        cmocka_unit_test(a_mark_that_folds_to_a_letter_stays_with_the_character_before_it),
        cmocka_unit_test(the_spellings_of_every_code_point_are_complete),
        cmocka_unit_test(a_text_with_too_many_spellings_is_refused_quickly),
        cmocka_unit_test(no_more_than_the_limit_is_written),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
