/* Tests lists of many rules. The rules share keys of the index, or keep many states active at the
 * same time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/matcher.h"
#include "support/glob_oracle.h"
#include "support/harness.h"

enum { MOST_RULES = 400, ROOM = 1024, PATHS = 200 };

static struct {
    char texts[MOST_RULES][ROOM];
    struct bs_pattern patterns[MOST_RULES];
    size_t n;
} list;

static uint32_t seed = 4711;

static uint32_t below(uint32_t n) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

static void append(char *out, const char *text) {
    size_t used = strlen(out);
    size_t more = strlen(text);
    if (used + more < ROOM)
        memcpy(out + used, text, more + 1);
}

/* Append a piece. Pieces have lengths that the index looks up in different ways: up to 4, 8, 16 and
 * more bytes. */
static void append_piece(char *out) {
    static const char *const pieces[] = {"a",
                                         "ab",
                                         "\u00e9",
                                         "abc",
                                         "-b",
                                         ".c",
                                         "ab.c",
                                         "defgh",
                                         "abcdef",
                                         "abcdefg",
                                         "abcdefgh",
                                         "xbcdefgh",
                                         "abcdefghi",
                                         "abcdefgh.abcdefg",
                                         "abcdefghabcdefgh",
                                         "abcdefghabcdefghx",
                                         "bcdefghabcdefghabcdefgh"};
    append(out, pieces[below(LENGTH(pieces))]);
}

static void append_wild_segment(char *out) {
    static const char *const shapes[] = {"P*P",   "*P",  "P*",   "*P*",  "P?P",  "*?",
                                         "P*P*P", "?P*", "P?.*", "*P?*", "*P*P", "?*P"};
    for (const char *at = shapes[below(LENGTH(shapes))]; *at != '\0'; at++) {
        if (*at == 'P')
            append_piece(out);
        else
            append(out, (char[]){*at, '\0'});
    }
}

static void make_rule(char *out) {
    static const char *const before[] = {"", "**/", "s/", "s/**/", "*/", "**/s/", "*/*/"};
    static const char *const behind[] = {"", "", "/**", "/s", "/*", "/**/s"};
    *out = '\0';
    append(out, before[below(LENGTH(before))]);
    append_wild_segment(out);
    append(out, behind[below(LENGTH(behind))]);
}

/* Make a path that almost matches a rule, by replacing the rule's wildcards. */
static void make_path(char *out) {
    *out = '\0';
    for (const char *at = list.texts[below((uint32_t)list.n)]; *at != '\0'; at++) {
        if (at[0] == '*' && at[1] == '*') {
            for (uint32_t n = below(5); n > 0; n--)
                append(out, n % 2 == 0 ? "s/" : "a-name-of-thirty-or-more-letters/");
            append(out, "s");
            at++;
        } else if (*at == '?' || (*at == '*' && below(3) == 0)) {
            append(out, below(3) == 0 ? "\u00e9" : "a");
        } else if (*at == '*') {
            append_piece(out);
        } else if ((unsigned char)*at >= 0x80 || below(60) != 0) {
            append(out, (char[]){*at, '\0'});
        }
    }
}

static bool is_normal(const char *path) {
    return *path != '\0' && *path != '/' && strstr(path, "//") == NULL &&
           path[strlen(path) - 1] != '/' && strcmp(path, ".") != 0;
}

static ptrdiff_t expected_rule(const char *path) {
    ptrdiff_t rule = (ptrdiff_t)list.n - 1;
    while (rule >= 0 && !bs_oracle_glob_matches(list.patterns[rule].text, list.patterns[rule].len,
                                                path, strlen(path)))
        rule--;
    return rule;
}

static void many_wildcard_rules_decide_like_the_oracle(void **state) {
    (void)state;
    const int rounds = SLOW_BUILD ? 40 : 300;
    size_t matched = 0;
    for (int round = 0; round < rounds; round++) {
        list.n = 20 + below(MOST_RULES - 20);
        for (size_t i = 0; i < list.n; i++) {
            make_rule(list.texts[i]);
            list.patterns[i] = (struct bs_pattern){list.texts[i], strlen(list.texts[i])};
        }
        struct bs_matcher *matcher = NULL;
        assert_int_equal(
            bs_matcher_compile_from(BS_TIER_INDEX, list.patterns, list.n, false, &matcher, NULL),
            BS_OK);
        assert_string_equal(bs_matcher_facts(matcher).tier, "index");
        for (int i = 0; i < PATHS; i++) {
            char path[ROOM];
            make_path(path);
            if (!is_normal(path))
                continue;
            ptrdiff_t expected = expected_rule(path);
            ptrdiff_t rule = bs_matcher_highest(matcher, path, strlen(path));
            matched += expected >= 0;
            if (rule != expected)
                fail_msg("`%s`: rule %td (%s), expected %td (%s)", path, rule,
                         rule < 0 ? "" : list.texts[rule], expected,
                         expected < 0 ? "" : list.texts[expected]);
        }
        bs_matcher_free(matcher);
    }
    assert_true(matched > (size_t)rounds * PATHS / 2);
}

/* The paths have more segments than the index records, and more than 64 bytes. */
static void deep_paths_match(void **state) {
    (void)state;
    static const char *const rules[] = {
        "*/*",
        "a/*/?/*",
        "**/a/?*",
        "a/**/?/a",
        "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/?",
        "*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/a"};
    for (size_t i = 0; i < LENGTH(rules); i++) {
        struct bs_pattern pattern = {rules[i], strlen(rules[i])};
        struct bs_matcher *matcher = NULL;
        assert_int_equal(bs_matcher_compile_from(BS_TIER_INDEX, &pattern, 1, false, &matcher, NULL),
                         BS_OK);
        char path[ROOM] = "";
        for (size_t depth = 1; depth <= 120; depth++) {
            append(path, depth == 1 ? "a" : "/a");
            bool expected = bs_oracle_glob_matches(pattern.text, pattern.len, path, strlen(path));
            if ((bs_matcher_highest(matcher, path, strlen(path)) == 0) != expected)
                fail_msg("`%s`: %zu segments", rules[i], depth);
        }
        bs_matcher_free(matcher);
    }
}

/* Rules that exceed the limits of backtracking are in an automaton, in addition to the index. */
static void deep_rules_match(void **state) {
    (void)state;
    static const enum bs_tier tiers[] = {BS_TIER_INDEX, BS_TIER_LEAST_WORK};
    static const char *const starts[] = {"", "**/", "*/", "s/"};
    static const char *const ends[] = {"a*", "a/**", "?", "**/a"};
    for (size_t i = 0; i < LENGTH(starts) * LENGTH(ends) * LENGTH(tiers); i++) {
        for (size_t depth = 26; depth < 38; depth++) {
            char *rule = list.texts[0];
            *rule = '\0';
            append(rule, starts[i % LENGTH(starts)]);
            for (size_t k = 0; k < depth; k++)
                append(rule, "a/");
            append(rule, ends[i / LENGTH(starts) % LENGTH(ends)]);
            list.patterns[0] = (struct bs_pattern){rule, strlen(rule)};
            list.n = 1;
            struct bs_matcher *matcher = NULL;
            assert_int_equal(bs_matcher_compile_from(tiers[i / (LENGTH(starts) * LENGTH(ends))],
                                                     list.patterns, 1, false, &matcher, NULL),
                             BS_OK);
            char path[ROOM] = "";
            for (size_t segments = 1; segments < depth + 5; segments++) {
                append(path, segments == 1 ? "a" : "/a");
                if (bs_matcher_highest(matcher, path, strlen(path)) != expected_rule(path))
                    fail_msg("`%s`: %zu segments", rule, segments);
            }
            bs_matcher_free(matcher);
        }
    }
}

/* All of these rules can continue after every segment of the path. */
static void rules_that_can_continue_after_every_segment_match(void **state) {
    (void)state;
    static const struct {
        const char *rule; /* N stands for the number of the rule, A for that many letters */
        size_t n;
        const char *begins;
        const char *each; /* each segment of the path is this text */
        const char *ends;
    } rows[] = {
        {"**/xN/**/y", 60, "", "xN/", "y"},
        {"s/**/xN/**/y", 60, "s/", "xN/", "y"},
        {"*/**/xN/**/y", 60, "s/", "xN/", "y"},
        {"**/xN/**/z/**/y", 30, "", "xN/z/", "y"},
        {"**/A*/A*/A*/y", 20, "", "aaaaaaaaaaaaaaaaaaaaaaa/", "y"},
        {"**/A*/**/A*/y", 20, "", "aaaaaaaaaaaaaaaaaaaaaaa/", "y"},
        {"A*/**/A*/**/y", 20, "", "aaaaaaaaaaaaaaaaaaaaaaa/", "y"},
        {"A*/yN", 60, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/", "", "y9"},
        {"A*/A*/A*/A*/A*/**/yN", 20, "", "aaaaaaaaaaaaaaaaaaaaaaa/", "y5"},
        {"**/A*/A*/A*/yN", 20, "", "aaaaaaaaaaaaaaaaaaaaaaa/", "y5"},
    };
    for (size_t row = 0; row < LENGTH(rows); row++) {
        char path[ROOM] = "";
        append(path, rows[row].begins);
        list.n = rows[row].n;
        for (size_t i = 0; i < list.n; i++) {
            char number[24];
            snprintf(number, sizeof number, "%zu", i);
            char letters[MOST_RULES + 1] = "";
            memset(letters, 'a', i);
            *list.texts[i] = '\0';
            for (const char *at = rows[row].rule; *at != '\0'; at++)
                append(list.texts[i], *at == 'N'   ? number
                                      : *at == 'A' ? letters
                                                   : (char[]){*at, '\0'});
            for (const char *at = rows[row].each; *at != '\0'; at++)
                append(path, *at == 'N' ? number : (char[]){*at, '\0'});
            list.patterns[i] = (struct bs_pattern){list.texts[i], strlen(list.texts[i])};
        }
        append(path, rows[row].ends);
        struct bs_matcher *matcher = NULL;
        assert_int_equal(
            bs_matcher_compile_from(BS_TIER_INDEX, list.patterns, list.n, false, &matcher, NULL),
            BS_OK);
        assert_string_equal(bs_matcher_facts(matcher).tier, "index");
        if (bs_matcher_highest(matcher, path, strlen(path)) != expected_rule(path))
            fail_msg("`%s`", rows[row].rule);
        bs_matcher_free(matcher);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_wildcard_rules_decide_like_the_oracle),
        cmocka_unit_test(deep_paths_match),
        cmocka_unit_test(deep_rules_match),
        cmocka_unit_test(rules_that_can_continue_after_every_segment_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
