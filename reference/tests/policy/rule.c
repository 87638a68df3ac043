#define _GNU_SOURCE
#include "policy/path/rule.h"

#include <stdlib.h>
#include <string.h>

#include <boxspec/error.h>

#include "support/harness.h"

struct parsed {
    int code;
    bool negated;
    char body[128];
    const char *problem;
};

static struct parsed parse(const char *text, size_t len) {
    struct parsed parsed = {0};
    char *copy = malloc(len > 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    parsed.code = bs_rule_parse(copy, &len, &parsed.negated, &parsed.problem);
    if (parsed.code == BS_OK) {
        assert_true(len < sizeof parsed.body);
        memcpy(parsed.body, copy, len);
    }
    free(copy);
    return parsed;
}

static void rules_have_one_normal_form(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"a", "a"},
                                          {" \ta\t ", "a"},
                                          {"a\\b", "a/b"},
                                          {"a//b///c", "a/b/c"},
                                          {"./a/./b/.", "a/b"},
                                          {"a/", "a"},
                                          {".", "."},
                                          {"./", "."},
                                          {"././.", "."},
                                          {".\\", "."},
                                          {"./**", "**"},
                                          {"a/***", "a/**"},
                                          {"a****b", "a**b"},
                                          {"a/**//", "a/**"},
                                          {"a..b", "a..b"},
                                          {"...", "..."},
                                          {"..a/b..", "..a/b.."},
                                          {".a", ".a"},
                                          {"./!x", "!x"},
                                          {"./ a", " a"},
                                          {"a /", "a "},
                                          {"a b", "a b"},
                                          {"a\n", "a\n"},
                                          {"~a", "~a"},
                                          {"a/~", "a/~"},
                                          {"a/c:", "a/c:"},
                                          {"1:", "1:"},
                                          {"[a]{b}", "[a]{b}"},
                                          {"\xC3\xA9:", "\xC3\xA9:"},
                                          {"**/**", "**/**"},
                                          {"*/./**", "*/**"},
                                          {"./.a", ".a"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct parsed parsed = parse(rows[i][0], strlen(rows[i][0]));
        if (parsed.code != BS_OK || strcmp(parsed.body, rows[i][1]) != 0 || parsed.negated)
            fail_msg("`%s`: `%s`, not `%s`", rows[i][0], parsed.body, rows[i][1]);
    }
}

static void a_single_exclamation_mark_negates(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"!a", "a"},     {" ! a ", "a"}, {"!\ta", "a"},
                                          {"!./!x", "!x"}, {"!.", "."},    {"!./ a", " a"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct parsed parsed = parse(rows[i][0], strlen(rows[i][0]));
        assert_int_equal(parsed.code, BS_OK);
        assert_true(parsed.negated);
        assert_string_equal(parsed.body, rows[i][1]);
    }
}

static void invalid_rules_are_refused(void **state) {
    (void)state;
    static const char *const rows[] = {
        "",     " ",     "\t",    "!",    "! ",    "!!",     "!!a",         "! !a",
        "/",    "/a",    "\\a",   "//a",  "~",     "~/",     "~/a",         "~\\a",
        "C:",   "c:a",   "z:/a",  "..",   "../a",  "a/..",   "a/../b",      "a\\..\\b",
        "./..", "./~",   "./~/a", ".//~", "./C:x", "././c:", "!/a",         "!~",
        "!C:",  "!../a", " /a",   "!./~", "\xFF",  "a\xC3",  "\xED\xA0\x80"};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct parsed parsed = parse(rows[i], strlen(rows[i]));
        if (parsed.code != BS_E_INVALID || parsed.problem == NULL)
            fail_msg("`%s` was taken as `%s`", rows[i], parsed.body);
    }
    assert_int_equal(parse("a\0b", 3).code, BS_E_INVALID);
}

static void normalizing_keeps_the_exclamation_mark(void **state) {
    (void)state;
    char text[] = " !a/./b ";
    size_t len = strlen(text);
    const char *problem = NULL;
    assert_int_equal(bs_rule_body_normalize(text, &len, &problem), BS_OK);
    assert_int_equal(len, 4);
    assert_memory_equal(text, "!a/b", 4);
}

static bool covers(const char *cover, const char *rule) {
    return bs_rule_covers(cover, strlen(cover), rule, strlen(rule));
}

static void a_cover_compares_letters_and_segments(void **state) {
    (void)state;
    assert_true(covers("a", "a"));
    assert_true(covers("**", "anything/at?/all*"));
    assert_true(covers("a/**", "a"));
    assert_true(covers("a/**", "a/b"));
    assert_true(covers("a/**", "a/**"));
    assert_true(covers("a/*/**", "a/*/b"));
    assert_false(covers("a/**", "ab"));
    assert_false(covers("a/**", "ab/c"));
    assert_false(covers("a/**", "**"));
    assert_false(covers("a", "a/b"));
    assert_false(covers("a/*", "a/b"));
    assert_false(covers("a/b/**", "a"));
    assert_false(covers("*/**", "a"));
    assert_false(covers("a**", "ab"));
    assert_false(covers("/**", "a"));
}

static void a_printed_rule_is_parsed_unchanged(void **state) {
    (void)state;
    static const char *const bodies[] = {"a",       "!x", " a", "a ", " ",
                                         "\ta/b\t", ".",  "**", "!",  "!!"};
    for (size_t i = 0; i < 2 * LENGTH(bodies); i++) {
        const char *body = bodies[i / 2];
        struct bs_buf out = BS_BUF_INIT;
        bs_rule_put(&out, body, strlen(body), i % 2 != 0);
        struct parsed parsed = parse(out.data, out.len);
        bs_buf_clear(&out);
        assert_int_equal(parsed.code, BS_OK);
        assert_string_equal(parsed.body, body);
        assert_int_equal(parsed.negated, i % 2 != 0);
    }
}

/* The texts are all those of up to six characters that have a meaning in rules. */
static void every_short_text_is_refused_or_normal(void **state) {
    (void)state;
    static const char alphabet[] = "a.!/\\*~ :";
    enum { MOST = 6, LETTERS = sizeof alphabet - 1 };
    unsigned long total = 1;
    for (int i = 0; i < MOST; i++)
        total *= LETTERS;
    for (unsigned long number = 0; number < total; number++) {
        char text[MOST];
        unsigned long rest = number;
        for (int i = 0; i < MOST; i++, rest /= LETTERS)
            text[i] = alphabet[rest % LETTERS];
        size_t len = MOST;
        bool negated = false;
        const char *problem = NULL;
        if (bs_rule_parse(text, &len, &negated, &problem) != BS_OK)
            continue;
        struct bs_buf out = BS_BUF_INIT;
        bs_rule_put(&out, text, len, negated);
        struct parsed again = parse(out.data, out.len);
        bs_buf_clear(&out);
        if (again.code != BS_OK || again.negated != negated || strlen(again.body) != len ||
            memcmp(again.body, text, len) != 0 || memmem(text, len, "//", 2) != NULL ||
            memmem(text, len, "***", 3) != NULL || memchr(text, '\\', len) != NULL ||
            text[len - 1] == '/')
            fail_msg("`%.*s` is not normal", (int)len, text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_have_one_normal_form),
        cmocka_unit_test(a_single_exclamation_mark_negates),
        cmocka_unit_test(invalid_rules_are_refused),
        cmocka_unit_test(normalizing_keeps_the_exclamation_mark),
        cmocka_unit_test(a_cover_compares_letters_and_segments),
        cmocka_unit_test(a_printed_rule_is_parsed_unchanged),
        cmocka_unit_test(every_short_text_is_refused_or_normal),
    };
    return cmocka_run_group_tests_name("policy/rule", tests, NULL, NULL);
}
