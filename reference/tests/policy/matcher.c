#define _GNU_SOURCE
#include "policy/match/matcher.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/glob_oracle.h"
#include "support/harness.h"

static const enum bs_tier tiers[] = {BS_TIER_TABLES, BS_TIER_INDEX, BS_TIER_AUTOMATON};
static const char *const tier_names[] = {"tables", "index", "automaton"};

static uint32_t next_random(uint32_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

enum { MOST_RULES = 60, ROOM = 160 };

struct list {
    char texts[MOST_RULES][ROOM];
    struct bs_pattern patterns[MOST_RULES];
    size_t n;
};

static void random_rule(uint32_t *seed, char *out) {
    static const char *const segments[] = {
        "a",   "b",   "src", "*",    "*",     "**",     "**",  "*.c",  "*.tar.gz", "a*",
        "*b",  "?",   "a?c", "*a*",  ".",     "a.c",    "x**", "**.c", "**y",      "\u00e9?",
        "lib", "src", "*.",  "*.*c", "s*c.c", "a**b.c", "*?",  "*.?",  "lib"};
    size_t used = 0;
    uint32_t n = 1 + next_random(seed) % 5;
    for (uint32_t i = 0; i < n; i++) {
        const char *segment = segments[next_random(seed) % LENGTH(segments)];
        if (strcmp(segment, ".") == 0)
            segment = "b";
        if (used > 0)
            out[used++] = '/';
        memcpy(out + used, segment, strlen(segment) + 1);
        used += strlen(segment);
    }
    if (next_random(seed) % 50 == 0)
        memcpy(out, ".", 2);
}

static void random_path(uint32_t *seed, char *out) {
    static const char *const segments[] = {
        "a",     "b",
        "src",   "lib",
        "a.c",   "x.tar.gz",
        ".c",    "ab",
        "abc",   "\u00e9\u00e9",
        "src.c", "y",
        "x",     "a-segment-of-more-than-sixty-four-bytes-which-is-read-in-another-way.tar.gz"};
    size_t used = 0;
    uint32_t n = 1 + next_random(seed) % (next_random(seed) % 16 == 0 ? 14 : 5);
    for (uint32_t i = 0; i < n; i++) {
        const char *segment = segments[next_random(seed) % LENGTH(segments)];
        if (used > 0)
            out[used++] = '/';
        memcpy(out + used, segment, strlen(segment) + 1);
        used += strlen(segment);
    }
    if (next_random(seed) % 30 == 0)
        memcpy(out, ".", 2);
}

static ptrdiff_t expected_rule(const struct list *list, const char *path) {
    ptrdiff_t rule = (ptrdiff_t)list->n - 1;
    while (rule >= 0 && !bs_oracle_glob_matches(list->patterns[rule].text, list->patterns[rule].len,
                                                path, strlen(path)))
        rule--;
    return rule;
}

static void random_lists_decide_like_the_oracle_in_every_tier(void **state) {
    (void)state;
    static struct list list;
    uint32_t seed = 77;
    size_t seen[LENGTH(tiers)] = {0};
    const int rounds = SLOW_BUILD ? 100 : 500;
    for (int round = 0; round < rounds; round++) {
        list.n = 1 + next_random(&seed) % (round % 3 == 0 ? 4 : MOST_RULES);
        for (size_t i = 0; i < list.n; i++) {
            random_rule(&seed, list.texts[i]);
            list.patterns[i] = (struct bs_pattern){list.texts[i], strlen(list.texts[i])};
        }
        struct bs_matcher *matchers[LENGTH(tiers)];
        for (size_t t = 0; t < LENGTH(tiers); t++) {
            struct bs_error err = BS_ERROR_INIT;
            if (bs_matcher_compile_from(tiers[t], list.patterns, list.n, false, &matchers[t],
                                        &err) != BS_OK)
                fail_msg("%s", err.message);
            seen[t] += strcmp(bs_matcher_facts(matchers[t]).tier, tier_names[t]) == 0;
        }
        for (int i = 0; i < 60; i++) {
            char path[2048];
            random_path(&seed, path);
            ptrdiff_t expected = expected_rule(&list, path);
            for (size_t t = 0; t < LENGTH(tiers); t++) {
                ptrdiff_t rule = bs_matcher_highest(matchers[t], path, strlen(path));
                if (rule != expected)
                    fail_msg("%s, `%s`: rule %td (%s), expected %td (%s)", tier_names[t], path,
                             rule, rule < 0 ? "" : list.texts[rule], expected,
                             expected < 0 ? "" : list.texts[expected]);
            }
        }
        for (size_t t = 0; t < LENGTH(tiers); t++)
            bs_matcher_free(matchers[t]);
    }
    for (size_t t = 0; t < LENGTH(tiers); t++)
        assert_true(seen[t] > (size_t)rounds / 10);
}

/* Only some bytes of a name are hashed. Names that differ only after these bytes must be
 * distinguished, also if a piece occurs several times in a segment. */
static void long_and_repeated_pieces_are_distinguished(void **state) {
    (void)state;
    static const char *const rules[] = {"abcdefghijklmnopqrstuvwxyz-one*x",
                                        "abcdefghijklmnopqrstuvwxyz-two*x",
                                        "*x-abcdefghijklmnopqrstuvwxyz",
                                        "*y-abcdefghijklmnopqrstuvwxyz",
                                        "*middle-one*",
                                        "*middle-two*?",
                                        "*ab*",
                                        "?*?",
                                        "ab*.c",
                                        "ab*.c.d",
                                        "ab.*.c",
                                        "\u00e9*\u00e9"};
    static const char *const paths[] = {"abcdefghijklmnopqrstuvwxyz-one-x",
                                        "abcdefghijklmnopqrstuvwxyz-two-x",
                                        "abcdefghijklmnopqrstuvwxyz-onx",
                                        "abcdefghijklmnopqrstuvwxyz",
                                        "1x-abcdefghijklmnopqrstuvwxyz",
                                        "1y-abcdefghijklmnopqrstuvwxyz",
                                        "-abcdefghijklmnopqrstuvwxyz",
                                        "a-middle-one-middle-one",
                                        "a-middle-two-middle-two",
                                        "middle-two!",
                                        "abababab",
                                        "a",
                                        "\u00e9",
                                        "\u00e9\u00e9",
                                        "ab.c",
                                        "ab.c.d",
                                        "ab.c.c",
                                        "abx.c.d",
                                        "b.c"};
    struct bs_pattern patterns[LENGTH(rules)];
    for (size_t first = 0; first < LENGTH(rules); first++) {
        size_t n = LENGTH(rules) - first;
        for (size_t i = 0; i < n; i++)
            patterns[i] = (struct bs_pattern){rules[first + i], strlen(rules[first + i])};
        for (size_t p = 0; p < LENGTH(paths); p++) {
            ptrdiff_t expected = (ptrdiff_t)n - 1;
            while (expected >= 0 &&
                   !bs_oracle_glob_matches(patterns[expected].text, patterns[expected].len,
                                           paths[p], strlen(paths[p])))
                expected--;
            for (size_t t = 0; t < LENGTH(tiers); t++) {
                struct bs_matcher *matcher = NULL;
                assert_int_equal(
                    bs_matcher_compile_from(tiers[t], patterns, n, false, &matcher, NULL), BS_OK);
                ptrdiff_t rule = bs_matcher_highest(matcher, paths[p], strlen(paths[p]));
                bs_matcher_free(matcher);
                if (rule != expected)
                    fail_msg("%s, `%s`: rule %td, expected %td", tier_names[t], paths[p], rule,
                             expected);
            }
        }
    }
    for (size_t r = 0; r < LENGTH(rules); r++) {
        struct bs_pattern alone = {rules[r], strlen(rules[r])};
        struct bs_matcher *matcher = NULL;
        assert_int_equal(bs_matcher_compile_from(BS_TIER_INDEX, &alone, 1, false, &matcher, NULL),
                         BS_OK);
        for (size_t p = 0; p < LENGTH(paths); p++) {
            bool expected =
                bs_oracle_glob_matches(alone.text, alone.len, paths[p], strlen(paths[p]));
            if ((bs_matcher_highest(matcher, paths[p], strlen(paths[p])) == 0) != expected)
                fail_msg("`%s` and `%s`: expected %d", rules[r], paths[p], expected);
        }
        bs_matcher_free(matcher);
    }
}

static void an_empty_list_matches_no_path(void **state) {
    (void)state;
    for (size_t t = 0; t < LENGTH(tiers); t++) {
        struct bs_matcher *matcher = NULL;
        assert_int_equal(bs_matcher_compile_from(tiers[t], NULL, 0, false, &matcher, NULL), BS_OK);
        assert_int_equal(bs_matcher_highest(matcher, ".", 1), BS_NO_RULE);
        assert_int_equal(bs_matcher_highest(matcher, "a/b", 3), BS_NO_RULE);
        bs_matcher_free(matcher);
    }
    bs_matcher_free(NULL);
}

static void the_patterns_may_be_freed_after_compiling(void **state) {
    (void)state;
    for (size_t t = 0; t < LENGTH(tiers); t++) {
        char *first = strdup("src/*");
        char *second = strdup("*.cc");
        assert_non_null(first);
        assert_non_null(second);
        struct bs_pattern patterns[] = {{first, 5}, {second, 4}};
        struct bs_matcher *matcher = NULL;
        assert_int_equal(bs_matcher_compile_from(tiers[t], patterns, 2, false, &matcher, NULL),
                         BS_OK);
        free(first);
        free(second);
        assert_int_equal(bs_matcher_highest(matcher, "src/a", 5), 0);
        assert_int_equal(bs_matcher_highest(matcher, "a.cc", 4), 1);
        bs_matcher_free(matcher);
    }
}

static void every_tier_folds(void **state) {
    (void)state;
    static const struct bs_pattern patterns[] = {{"**/*.ENV", 8}, {"caf\u00e9/**", 8}};
    for (size_t t = 0; t < LENGTH(tiers); t++) {
        struct bs_matcher *matcher = NULL;
        assert_int_equal(bs_matcher_compile_from(tiers[t], patterns, 2, true, &matcher, NULL),
                         BS_OK);
        assert_int_equal(bs_matcher_highest(matcher, "A/.eNv", 6), 0);
        assert_int_equal(bs_matcher_highest(matcher, "CAFE\u0301/x", 8), 1);
        assert_int_equal(bs_matcher_highest(matcher, ".", 1), BS_NO_RULE);
        bs_matcher_free(matcher);
    }
}

static void long_paths_match(void **state) {
    (void)state;
    static const struct bs_pattern patterns[] = {
        {"**/deep/*.c", 11}, {"a/**/E", 6}, {"x**y", 4}, {"**/[abcdefgh]*", 14}};
    for (size_t t = 0; t < LENGTH(tiers); t++) {
        for (int fold = 0; fold < 2; fold++) {
            struct bs_matcher *matcher = NULL;
            assert_int_equal(
                bs_matcher_compile_from(tiers[t], patterns, 4, fold == 1, &matcher, NULL), BS_OK);
            static char path[40000];
            for (size_t i = 0; i < sizeof path; i++) {
                size_t left = sizeof path - i;
                path[i] = left <= 8 ? "deep/z.c"[8 - left] : "a/"[i % 2];
            }
            assert_int_equal(bs_matcher_highest(matcher, path, sizeof path), 0);
            path[sizeof path - 1] = 'E';
            path[sizeof path - 2] = '/';
            assert_int_equal(bs_matcher_highest(matcher, path, sizeof path), 1);
            memset(path, 'n', sizeof path);
            path[0] = 'x';
            path[sizeof path - 1] = 'y';
            assert_int_equal(bs_matcher_highest(matcher, path, sizeof path), 2);
            bs_matcher_free(matcher);
        }
    }
}

struct asking {
    const struct bs_matcher *matcher;
    bool wrong;
};

static void *query_in_thread(void *context) {
    struct asking *asking = context;
    for (int i = 0; i < 20000; i++) {
        if (bs_matcher_highest(asking->matcher, "a/src/x.c", 9) != 1 ||
            bs_matcher_highest(asking->matcher, "b", 1) != 0)
            asking->wrong = true;
    }
    return NULL;
}

static void threads_share_a_matcher(void **state) {
    (void)state;
    static const struct bs_pattern patterns[] = {{"**", 2}, {"**/src/**/*.c", 13}};
    for (size_t t = 0; t < LENGTH(tiers); t++) {
        struct bs_matcher *matcher = NULL;
        assert_int_equal(bs_matcher_compile_from(tiers[t], patterns, 2, false, &matcher, NULL),
                         BS_OK);
        struct asking asking[4];
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) {
            asking[i] = (struct asking){matcher, false};
            assert_int_equal(pthread_create(&threads[i], NULL, query_in_thread, &asking[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
            assert_false(asking[i].wrong);
        }
        bs_matcher_free(matcher);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_lists_decide_like_the_oracle_in_every_tier),
        cmocka_unit_test(long_and_repeated_pieces_are_distinguished),
        cmocka_unit_test(an_empty_list_matches_no_path),
        cmocka_unit_test(the_patterns_may_be_freed_after_compiling),
        cmocka_unit_test(every_tier_folds),
        cmocka_unit_test(long_paths_match),
        cmocka_unit_test(threads_share_a_matcher),
    };
    return cmocka_run_group_tests_name("policy/matcher", tests, NULL, NULL);
}
