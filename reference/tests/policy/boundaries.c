/* Tests lengths around the sizes of words and blocks, because the code reads several bytes at once.
 * A simple matcher computes the expected answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match/matcher.h"
#include "policy/path/path.h"
#include "support/append.h"
#include "support/glob_oracle.h"
#include "support/harness.h"

enum { ROOM = 512, MOST_RULES = 16, LONGEST_START = 140 };

struct list {
    char texts[MOST_RULES][ROOM];
    struct bs_pattern patterns[MOST_RULES];
    size_t n;
};

/* Write a path or a rule from a format. In the format, S stands for `start` and N for `name`. */
static size_t write_text(char *out, const char *format, const char *start, const char *name) {
    size_t used = 0;
    for (const char *at = format; *at != '\0'; at++) {
        const char *piece = *at == 'S' ? start : *at == 'N' ? name : (char[]){*at, '\0'};
        size_t len = strlen(piece);
        assert_true(used + len < ROOM);
        memcpy(out + used, piece, len + 1);
        used += len;
    }
    return used;
}

static void add_rule(struct list *list, const char *format, const char *start, const char *name) {
    assert_true(list->n < MOST_RULES);
    size_t len = write_text(list->texts[list->n], format, start, name);
    list->patterns[list->n] = (struct bs_pattern){list->texts[list->n], len};
    list->n++;
}

static ptrdiff_t expected_rule(const struct list *list, const char *path, size_t len) {
    ptrdiff_t rule = (ptrdiff_t)list->n - 1;
    while (rule >= 0 &&
           !bs_oracle_glob_matches(list->patterns[rule].text, list->patterns[rule].len, path, len))
        rule--;
    return rule;
}

/* Match the path, which is copied into a block of exactly its size, so that a sanitizer notices a
 * read past its end. It is matched once with the positions of the separators from the scan, and
 * once without. */
static void compare_with_oracle(const struct list *list, const struct bs_matcher *matcher,
                                const char *path) {
    size_t len = strlen(path);
    char *exact = malloc(len);
    assert_non_null(exact);
    memcpy(exact, path, len); /* NOLINT: the end is not to be there */
    struct bs_path_view view = {0};
    char buffer[ROOM];
    assert_null(bs_path_view(exact, len, buffer, &view));
    assert_ptr_equal(view.text, exact);
    ptrdiff_t expected = expected_rule(list, path, len);
    ptrdiff_t seen = bs_matcher_highest_view(matcher, &view);
    ptrdiff_t unseen = bs_matcher_highest(matcher, exact, len);
    if (seen != expected || unseen != expected)
        fail_msg("%s, `%s`: rule %td and %td, expected %td (%s)", bs_matcher_facts(matcher).tier,
                 path, seen, unseen, expected, expected < 0 ? "" : list->texts[expected]);
    free(exact);
}

/* Write whole segments of `segment` bytes each, together `bytes` bytes, ending with a separator. A
 * single byte would not be a segment. */
static void make_start(char *out, size_t bytes, size_t segment) {
    for (size_t i = 0; i < bytes; i++)
        out[i] = i % (segment + 1) == segment || i + 1 == bytes ? '/' : (char)('a' + i % 7);
    if (bytes > 1 && out[bytes - 2] == '/')
        out[bytes - 2] = 'q';
    out[bytes] = '\0';
}

static void make_name(char *out, size_t len) {
    for (size_t i = 0; i < len; i++)
        out[i] = (char)('k' + i % 11);
    out[len] = '\0';
}

/* Match the name itself, and names that differ from it in one byte or in their length. */
static void ask_near(const struct list *list, const struct bs_matcher *matcher, const char *start,
                     const char *name) {
    static const char *const formats[] = {"SN", "SN/x", "SN/x/y.c", "SNx", "SxN", "SyN/x", "SNx/y"};
    size_t len = strlen(name);
    size_t places[] = {0, len / 2, len - 1, len > 8 ? 8 : 0, len > 8 ? len - 9 : 0};
    char path[ROOM];
    char other[ROOM];
    for (size_t f = 0; f < LENGTH(formats); f++) {
        (void)write_text(path, formats[f], start, name);
        compare_with_oracle(list, matcher, path);
    }
    for (size_t i = 0; i < LENGTH(places); i++) {
        (void)write_text(other, "N", "", name);
        other[places[i]] = 'z';
        (void)write_text(path, i % 2 == 0 ? "SN" : "SN/x", start, other);
        compare_with_oracle(list, matcher, path);
    }
    if (len > 1) {
        (void)write_text(other, "N", "", name);
        other[len - 1] = '\0';
        (void)write_text(path, "SN", start, other);
        compare_with_oracle(list, matcher, path);
    }
}

static void compile(const struct list *list, enum bs_tier tier, struct bs_matcher **matcher) {
    assert_int_equal(bs_matcher_compile_from(tier, list->patterns, list->n, false, matcher, NULL),
                     BS_OK);
}

static void names_of_every_length_at_every_offset(void **state) {
    (void)state;
    static const enum bs_tier tiers[] = {BS_TIER_INDEX, BS_TIER_TABLES, BS_TIER_AUTOMATON};
    for (size_t len = 1; len <= 72; len += len == 36 && SLOW_BUILD ? 27 : 1) {
        struct list list = {.n = 0};
        char name[ROOM];
        char start[ROOM];
        make_name(name, len);
        add_rule(&list, "**/N*", "", name);
        add_rule(&list, "**/*N", "", name);
        add_rule(&list, "**/N/*", "", name);
        add_rule(&list, "**/N/**", "", name);
        add_rule(&list, "**/N", "", name);
        for (size_t t = 0; t < LENGTH(tiers); t++) {
            struct bs_matcher *matcher = NULL;
            compile(&list, tiers[t], &matcher);
            for (size_t bytes = 0; bytes < LONGEST_START; bytes += bytes == 0 ? 2 : 1) {
                make_start(start, bytes, bytes % 2 == 0 ? 5 : 200);
                ask_near(&list, matcher, start, name);
            }
            bs_matcher_free(matcher);
        }
    }
}

static void subtrees_of_every_length(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 2, 7, 8, 9, 15, 16, 17, 30, 31, 32, 33, 63, 64, 65};
    for (size_t bytes = 0; bytes < LONGEST_START; bytes += bytes == 0 ? 2 : 1) {
        for (size_t l = 0; l < LENGTH(lengths); l++) {
            struct list list = {.n = 0};
            char start[ROOM];
            char name[ROOM];
            make_start(start, bytes, l % 2 == 0 ? 4 : 200);
            make_name(name, lengths[l]);
            add_rule(&list, "SN/*", start, name);
            add_rule(&list, "SN/**", start, name);
            add_rule(&list, "SN/x", start, name);
            add_rule(&list, "SN", start, name);
            struct bs_matcher *matcher = NULL;
            compile(&list, BS_TIER_INDEX, &matcher);
            ask_near(&list, matcher, start, name);
            bs_matcher_free(matcher);
        }
    }
}

/* The rules have `**` on both sides, and the paths have this many segments before, between and
 * after. */
static void subtrees_at_every_depth(void **state) {
    (void)state;
    static const enum bs_tier tiers[] = {BS_TIER_INDEX, BS_TIER_AUTOMATON};
    for (size_t depth = 1; depth <= 70; depth++) {
        struct list list = {.n = 0};
        char names[ROOM] = "";
        for (size_t i = 0; i < depth; i++)
            append(names, sizeof names, i + 1 < depth ? "n/" : "m");
        add_rule(&list, "**/N/*", "", names);
        add_rule(&list, "N/**", "", names);
        add_rule(&list, "**/N", "", names);
        add_rule(&list, "s/**/N/**", "", names);
        for (size_t t = 0; t < LENGTH(tiers); t++) {
            struct bs_matcher *matcher = NULL;
            compile(&list, tiers[t], &matcher);
            for (size_t before = 0; before <= 66; before++) {
                char path[ROOM] = "";
                for (size_t i = 0; i < before; i++)
                    append(path, sizeof path, i == 0 && depth % 2 == 0 ? "s/" : "n/");
                size_t used = strlen(path);
                static const char *const ends[] = {"", "/n", "/n/n"};
                for (size_t e = 0; e < LENGTH(ends); e++) {
                    (void)write_text(path + used, "NS", ends[e], names);
                    compare_with_oracle(&list, matcher, path);
                }
            }
            bs_matcher_free(matcher);
        }
    }
}

/* These automata have more states than the 64 of one word. */
static void automata_with_several_words_of_states(void **state) {
    (void)state;
    static const char *const formats[] = {"N?x", "N*x", "**/N?", "N/**/x", "N**x", "N/*"};
    static const char *const paths[] = {"Nyx",   "N\u00e9x", "Nx", "N/x",
                                        "N/y/x", "N/x/y",    "Ny", "N"};
    for (size_t f = 0; f < LENGTH(formats); f++) {
        for (size_t len = 1; len <= 200; len++) {
            struct list list = {.n = 0};
            char name[ROOM];
            make_name(name, len);
            add_rule(&list, formats[f], "", name);
            add_rule(&list, "NN", "", "b");
            struct bs_matcher *matcher = NULL;
            compile(&list, BS_TIER_AUTOMATON, &matcher);
            for (size_t p = 0; p < LENGTH(paths); p++) {
                char path[ROOM];
                (void)write_text(path, paths[p], "", name);
                compare_with_oracle(&list, matcher, path);
                path[len / 2] = 'z';
                compare_with_oracle(&list, matcher, path);
            }
            bs_matcher_free(matcher);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_every_length_at_every_offset),
        cmocka_unit_test(subtrees_of_every_length),
        cmocka_unit_test(subtrees_at_every_depth),
        cmocka_unit_test(automata_with_several_words_of_states),
    };
    return cmocka_run_group_tests_name("policy/boundaries", tests, NULL, NULL);
}
