#include "policy/match/matcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/automaton.h"
#include "support/harness.h"
#include "support/spent.h"

#define MIB ((size_t)1 << 20)

/* Rules that are made from a format, with the numbers from 0 on. */
struct made {
    char *texts;
    struct bs_pattern *patterns;
    size_t n;
};

static struct made make_rules(const char *format, size_t n) {
    struct made made = {malloc(n * 256), calloc(n, sizeof *made.patterns), n};
    assert_non_null(made.texts);
    assert_non_null(made.patterns);
    for (size_t i = 0; i < n; i++) {
        char *text = made.texts + i * 256;
        /* In a format %1$zu is the number of the rule, and %2$c a letter made from it. */
        int len = snprintf(text, 256, format, i, (char)('a' + i % 26));
        made.patterns[i] = (struct bs_pattern){text, (size_t)len};
    }
    return made;
}

static void drop(struct made *made) {
    free(made->texts);
    free(made->patterns);
}

/* The limits are those that matcher.h promises, times ten because of sanitizers. */
static void hostile_lists_stay_within_time_and_memory(void **state) {
    (void)state;
    static const struct {
        const char *format;
        size_t n;
    } rows[] = {
        {"*a????????????????????%1$zu", 200},
        {"**/*a?????????????????????%1$zu", 1},
        {"*x%1$zu*y*z%2$c*", 10000},
        {"*%1$zu*%2$c*/*%2$c*/**/x", 5000},
        {"**/*%2$c*%1$zu*/**/x*", 3000},
        {"a%1$zu**b**%2$c", 8000},
        {"**/a/**/b/**/%2$c/**/%1$zu", 20000},
        {"*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/%1$zu", 10000},
        {"?%1$zu?/*", 20000},
        {"**%1$zu**%2$c**", 10000},
        {"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b%1$zu", 1000},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct made made = make_rules(rows[i].format, rows[i].n);
        struct bs_matcher *matcher = NULL;
        struct bs_error err = BS_ERROR_INIT;
        double start = spent_ms();
        int code = bs_matcher_compile(made.patterns, made.n, false, &matcher, &err);
        double took = spent_ms() - start;
        if (took > 10000)
            fail_msg("`%s`: %.0f ms", rows[i].format, took);
        if (getenv("BOXSPEC_SHOW") != NULL)
            print_message("%6zu x %-36s %7.1f ms  %s\n", rows[i].n, rows[i].format, took,
                          code == BS_OK ? bs_matcher_facts(matcher).tier : err.message);
        if (code == BS_OK) {
            assert_in_range(bs_matcher_facts(matcher).bytes, 1, 64 * MIB);
            char path[512];
            memset(path, 'a', sizeof path);
            for (size_t at = 7; at < sizeof path; at += 8)
                path[at] = '/';
            start = spent_ms();
            (void)bs_matcher_highest(matcher, path, sizeof path - 1);
            if (getenv("BOXSPEC_SHOW") != NULL)
                print_message("        512 bytes: %.3f ms, %.1f MiB\n", spent_ms() - start,
                              (double)bs_matcher_facts(matcher).bytes / (double)MIB);
        } else {
            assert_int_equal(code, BS_E_INVALID);
            assert_non_null(strstr(err.message, "budget"));
        }
        bs_matcher_free(matcher);
        drop(&made);
    }
}

static void the_rule_that_exceeds_the_budget_is_named(void **state) {
    (void)state;
    /* Each rule has 32 states. No rule fits into a table or into the index. */
    enum { STATES = 32, FIT = BS_AUTOMATON_MOST_STATES / STATES };
    struct made made = make_rules("%1$06zuabcdefgh**abcdefghijk**%2$cyyyyy", FIT + 1);
    assert_int_equal(bs_automaton_states(&made.patterns[0]), STATES);
    struct bs_matcher *matcher = NULL;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(bs_matcher_compile(made.patterns, FIT, false, &matcher, &err), BS_OK);
    assert_string_equal(bs_matcher_facts(matcher).tier, "automaton");
    bs_matcher_free(matcher);
    matcher = NULL;
    assert_int_equal(bs_matcher_compile(made.patterns, FIT + 1, false, &matcher, &err),
                     BS_E_INVALID);
    assert_null(matcher);
    char named[64];
    snprintf(named, sizeof named, "rule %d of the list, `%06dabcdefgh", (int)FIT + 1, (int)FIT);
    assert_non_null(strstr(err.message, named));
    drop(&made);
}

/* Rules without a key are in an automaton, as long as the automaton has room for all of them. */
static void too_many_rules_without_a_key_fall_back_to_the_index(void **state) {
    (void)state;
    enum { STATES = 21, MANY = BS_AUTOMATON_MOST_STATES / STATES + 1 };
    for (size_t n = MANY - 1; n <= MANY; n++) {
        struct made made = make_rules("**/?bcdefghijklm%1$06zu*", n);
        struct bs_matcher *matcher = NULL;
        struct bs_error err = BS_ERROR_INIT;
        assert_int_equal(bs_automaton_states(&made.patterns[0]), STATES);
        if (bs_matcher_compile(made.patterns, n, false, &matcher, &err) != BS_OK)
            fail_msg("%zu rules: %s", n, err.message);
        assert_string_equal(bs_matcher_facts(matcher).tier, n < MANY ? "automaton" : "index");
        for (size_t i = 0; i < n; i += 997) {
            char path[64];
            int len = snprintf(path, sizeof path, "a/xbcdefghijklm%06zu-x", i);
            assert_int_equal(bs_matcher_highest(matcher, path, (size_t)len), i);
        }
        assert_int_equal(bs_matcher_highest(matcher, "a/bcdefghijklm000001", 20), BS_NO_RULE);
        bs_matcher_free(matcher);
        drop(&made);
    }
}

static void a_long_rule_is_shown_truncated(void **state) {
    (void)state;
    size_t len = BS_AUTOMATON_MOST_STATES * 2;
    char *text = malloc(len);
    assert_non_null(text);
    for (size_t i = 0; i < len; i++)
        text[i] = i < 4 ? "**xy"[i] : "\u00e9"[i % 2];
    struct bs_pattern pattern = {text, len};
    struct bs_matcher *matcher = NULL;
    struct bs_error err = BS_ERROR_INIT;
    assert_int_equal(bs_matcher_compile(&pattern, 1, false, &matcher, &err), BS_E_INVALID);
    assert_non_null(strstr(err.message, "rule 1 of the list, `**xy\u00e9"));
    assert_non_null(strstr(err.message, "\u00e9`..."));
    free(text);
}

static void ordinary_lists_become_indexes_of_moderate_size(void **state) {
    (void)state;
    static const char *const formats[] = {"src/pkg%1$zu/**", "**/name%1$zu/**/*.%2$cs",
                                          "**/*.ext%1$zu", "lib/%2$c/file%1$zu_*.c",
                                          "a/*/b%1$zu/*.test.ts"};
    for (size_t i = 0; i < LENGTH(formats); i++) {
        struct made made = make_rules(formats[i], 3000);
        struct bs_matcher *matcher = NULL;
        struct bs_error err = BS_ERROR_INIT;
        if (bs_matcher_compile(made.patterns, made.n, false, &matcher, &err) != BS_OK)
            fail_msg("%s", err.message);
        assert_string_equal(bs_matcher_facts(matcher).tier, "index");
        assert_in_range(bs_matcher_facts(matcher).bytes, 1, 8 * MIB);
        bs_matcher_free(matcher);
        drop(&made);
    }
}

/* If these rules were matched from the front, the states of each `*` would multiply with those of
 * all others. */
static void rules_that_end_in_a_name_are_matched_from_the_end(void **state) {
    (void)state;
    struct made made = make_rules("**/name%1$zu_*.%2$cs", 60);
    struct bs_matcher *matcher = NULL;
    assert_int_equal(bs_matcher_compile(made.patterns, made.n, false, &matcher, NULL), BS_OK);
    assert_string_equal(bs_matcher_facts(matcher).tier, "tables");
    assert_in_range(bs_matcher_facts(matcher).bytes, 1, MIB / 8);
    bs_matcher_free(matcher);
    /* A rule without a fixed end needs the index in addition to the tables. The tables stay. */
    made.patterns[7] = (struct bs_pattern){"**/name/**", 10};
    assert_int_equal(bs_matcher_compile(made.patterns, made.n, false, &matcher, NULL), BS_OK);
    assert_string_equal(bs_matcher_facts(matcher).tier, "tables+index");
    bs_matcher_free(matcher);
    drop(&made);
}

/* All rules are active in each set of states, and only the last ones tell two bytes apart. So each
 * comparison of two bytes reads the whole set. */
static void comparing_bytes_counts_as_work(void **state) {
    (void)state;
    enum { ALIKE = 1000, BYTES = 64 };
    for (size_t alike = 10; alike <= ALIKE; alike += ALIKE - 10) {
        struct made made = make_rules("*?a", alike + BYTES);
        for (size_t i = 0; i < BYTES; i++) {
            char *text = made.texts + (alike + i) * 256;
            made.patterns[alike + i].len = (size_t)snprintf(text, 256, "*?%ca", (char)('@' + i));
        }
        struct bs_matcher *matcher = NULL;
        assert_int_equal(bs_matcher_compile(made.patterns, made.n, false, &matcher, NULL), BS_OK);
        assert_string_equal(bs_matcher_facts(matcher).tier, alike < ALIKE ? "tables" : "index");
        bs_matcher_free(matcher);
        drop(&made);
    }
}

static void a_budget_gives_the_same_matcher_each_time(void **state) {
    (void)state;
    struct made made = make_rules("*%1$zu*%2$c*/*%2$c*/**/x", 700);
    struct bs_matcher_facts first = {0};
    for (int i = 0; i < 2; i++) {
        struct bs_matcher *matcher = NULL;
        assert_int_equal(bs_matcher_compile(made.patterns, made.n, false, &matcher, NULL), BS_OK);
        struct bs_matcher_facts facts = bs_matcher_facts(matcher);
        if (i > 0) {
            assert_string_equal(facts.tier, first.tier);
            assert_int_equal(facts.bytes, first.bytes);
            assert_int_equal(facts.states, first.states);
        }
        first = facts;
        bs_matcher_free(matcher);
    }
    drop(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_lists_stay_within_time_and_memory),
        cmocka_unit_test(the_rule_that_exceeds_the_budget_is_named),
        cmocka_unit_test(too_many_rules_without_a_key_fall_back_to_the_index),
        cmocka_unit_test(a_long_rule_is_shown_truncated),
        cmocka_unit_test(ordinary_lists_become_indexes_of_moderate_size),
        cmocka_unit_test(rules_that_end_in_a_name_are_matched_from_the_end),
        cmocka_unit_test(comparing_bytes_counts_as_work),
        cmocka_unit_test(a_budget_gives_the_same_matcher_each_time),
    };
    return cmocka_run_group_tests_name("policy/matcher_budget", tests, NULL, NULL);
}
