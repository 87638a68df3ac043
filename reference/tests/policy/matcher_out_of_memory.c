/* Makes each allocation of a compilation fail once, in every tier. The compilation must then fail,
 * because a list that lacks rules would deny less. */
#include "policy/match/matcher.h"

#include <stdio.h>
#include <string.h>

#include "support/allocations.h"
#include "support/harness.h"

enum { MOST_RULES = 200 };

static char texts[MOST_RULES][64];
static struct bs_pattern patterns[MOST_RULES];

/* Make rules from formats in which `%d` is a number. The first rule is made from the format with
 * the index `from`. */
static size_t make_rules(const char *const *formats, size_t n_formats, size_t n, size_t from) {
    assert_in_range(n, 1, MOST_RULES);
    for (size_t i = 0; i < n; i++) {
        int len = snprintf(texts[i], sizeof texts[i], formats[(from + i) % n_formats], (int)i);
        patterns[i] = (struct bs_pattern){texts[i], (size_t)len};
    }
    return n;
}

struct attempt {
    enum bs_tier tier;
    bool fold;
    size_t n;
    const char *ends_in; /* the tier that the matcher must have */
};

static int compile_once(const void *context, struct bs_error *err) {
    const struct attempt *attempt = context;
    struct bs_matcher *matcher = NULL;
    int code =
        bs_matcher_compile_from(attempt->tier, patterns, attempt->n, attempt->fold, &matcher, err);
    assert_int_equal(code == BS_OK, matcher != NULL);
    if (code == BS_OK)
        assert_string_equal(bs_matcher_facts(matcher).tier, attempt->ends_in);
    bs_matcher_free(matcher);
    return code;
}

static void a_list_of_few_rules(void **state) {
    (void)state;
    static const char *const formats[] = {"s/%d/**", "**/*.%d"};
    struct attempt attempt = {BS_TIER_TABLES, false, make_rules(formats, LENGTH(formats), 6, 0),
                              "tables"};
    each_allocation_fails(compile_once, &attempt, BS_OK, 10);
    attempt.fold = true;
    each_allocation_fails(compile_once, &attempt, BS_OK, 10);
}

static void few_rules_with_a_name_at_any_depth(void **state) {
    (void)state;
    static const char *const formats[] = {"s/%d/**", "**/*.%d", "**/n%d/**"};
    struct attempt attempt = {BS_TIER_TABLES, false, make_rules(formats, LENGTH(formats), 6, 0),
                              "tables+index"};
    each_allocation_fails(compile_once, &attempt, BS_OK, 10);
}

/* The list has rules with every kind of key, and some without a key. */
static void a_list_of_many_rules(void **state) {
    (void)state;
    static const char *const formats[] = {
        "s/%d/**",      "s/*.%d", "**/n%d/**/x", "**/a-name-of-more-than-sixteen-bytes-%d",
        "s/*a%d*/**/?", "*/%d*b", "**/h%d*",     "*%d*",
        "a**b%d?*c/**d"};
    for (size_t from = 0; from < LENGTH(formats); from++) {
        size_t n = make_rules(formats, LENGTH(formats), MOST_RULES, from);
        struct attempt attempt = {BS_TIER_INDEX, false, n, "index"};
        each_allocation_fails(compile_once, &attempt, BS_OK, 15);
        attempt.tier = BS_TIER_LEAST_WORK;
        each_allocation_fails(compile_once, &attempt, BS_OK, 15);
        attempt = (struct attempt){BS_TIER_AUTOMATON, false, n, "automaton"};
        each_allocation_fails(compile_once, &attempt, BS_OK, 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_few_rules),
        cmocka_unit_test(few_rules_with_a_name_at_any_depth),
        cmocka_unit_test(a_list_of_many_rules),
    };
    return cmocka_run_group_tests_name("policy/matcher: out of memory", tests, NULL, NULL);
}
