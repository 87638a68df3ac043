/* Compares the matcher and the two normalisers with their definitions (contract_definitions.h), for
 * every text up to a certain length. fuzz/support/glob_oracle.c is compared with them too.
 *
 * Each test prints its bounds and the number of cases. BOXSPEC_LONGER=N adds N to each length. Each
 * additional letter multiplies the time by about 10, and by about 40 for the globs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/glob.h>
#include <boxspec/path.h>

#include "policy/contract_definitions.h"
#include "policy/path/path.h"
#include "policy/path/rule.h"
#include "support/glob_oracle.h"
#include "support/harness.h"

/* ---- Every text ---- */

/* Return text number `number` of all texts with `length` letters. A letter is a byte, except E,
 * which is e acute, and 0, which is a NUL. */
static struct text numbered(const char *letters, size_t length, size_t number) {
    struct text text = {.len = 0};
    for (size_t i = 0; i < length; i++, number /= strlen(letters)) {
        char letter = letters[number % strlen(letters)];
        if (letter == 'E')
            append(&text, "\u00e9", 2);
        else
            append(&text, letter == '0' ? "\0" : &letter, 1);
    }
    return text;
}

static size_t power(size_t base, size_t exponent) {
    size_t result = 1;
    while (exponent-- > 0)
        result *= base;
    return result;
}

static size_t longest(size_t usual) {
    const char *longer = getenv("BOXSPEC_LONGER");
    if (longer != NULL)
        return usual + strtoul(longer, NULL, 10);
    return SLOW_BUILD ? usual - 2 : usual;
}

static const char *shown(const struct text *text) {
    static char buffers[4][4 * ROOM];
    static size_t next;
    char *out = buffers[next++ % LENGTH(buffers)];
    size_t used = 0;
    for (size_t i = 0; i < text->len; i++) {
        unsigned char byte = (unsigned char)text->bytes[i];
        used += (size_t)snprintf(out + used, sizeof buffers[0] - used,
                                 byte >= ' ' && byte < 0x7F ? "%c" : "\\x%02x", byte);
    }
    out[used] = '\0';
    return out;
}

/* ---- Tests ---- */

/* Lengths of a name that is put before the text. With these the text lies at every edge of the
 * blocks of 16 and 64 bytes that the scans read. */
static const size_t paddings[] = {0, 10, 11, 12, 13, 14, 15, 16, 58, 59, 60, 61, 62, 63, 64};

static struct text padded(size_t padding, const struct text *text) {
    struct text result = {.len = 0};
    for (size_t i = 0; i < padding; i++)
        append(&result, "a", 1);
    append(&result, text->bytes, text->len);
    return result;
}

/* Check every text of at most longest(5) letters, after each of the paddings. */
static void check_every_text(const char *what, const char *letters,
                             void (*check)(const struct text *text)) {
    size_t most = longest(5);
    size_t cases = 0;
    for (size_t length = 0; length <= most; length++) {
        for (size_t number = 0; number < power(strlen(letters), length); number++) {
            struct text text = numbered(letters, length, number);
            /* Try the longest texts without padding only. Then both ends of the text are also the
             * ends of the path. */
            size_t n = length < most ? LENGTH(paddings) : 1;
            for (size_t i = 0; i < n; i++, cases++) {
                struct text whole = padded(paddings[i], &text);
                check(&whole);
            }
        }
    }
    print_message("%s: every text of 0 to %zu of %zu letters, %zu cases\n", what, most,
                  strlen(letters), cases);
}

static void check_path(const struct text *path) {
    struct text expected = {.len = 0};
    bool accepted = path_by_definition(path, &expected);
    char buffer[ROOM + 1];
    const char *normal = NULL;
    size_t len = 0;
    int code = bs_path_normalize(path->bytes, path->len, buffer, &normal, &len, NULL);
    if ((code == BS_OK) != accepted)
        fail_msg("`%s`: expected %s", shown(path), accepted ? shown(&expected) : "a refusal");
    if (accepted && (len != expected.len || memcmp(normal, expected.bytes, len) != 0))
        fail_msg("`%s`: expected `%s`, got `%.*s`", shown(path), shown(&expected), (int)len,
                 normal);
    struct text again = {.len = 0};
    if (accepted && !(path_by_definition(&expected, &again) && is(&again, expected.bytes)))
        fail_msg("`%s`: the definition is not idempotent", shown(path));
    if (bs_path_is_plain(path->bytes, path->len) && !(accepted && is(&expected, path->bytes)))
        fail_msg("`%s`: taken for a normal form", shown(path));
}

static void every_path_has_the_normal_form_of_the_definition(void **state) {
    (void)state;
    check_every_text("paths", "aC./~: \tE\\0\xC3", check_path);
}

static void check_rule(const struct text *rule) {
    struct text expected = {.len = 0};
    bool expected_negated = false;
    bool accepted = rule_by_definition(rule, &expected_negated, &expected);
    struct text actual = *rule;
    bool negated = false;
    const char *problem = NULL;
    int code = bs_rule_parse(actual.bytes, &actual.len, &negated, &problem);
    if ((code == BS_OK) != accepted)
        fail_msg("`%s`: expected %s", shown(rule), accepted ? shown(&expected) : "a refusal");
    if (accepted && (negated != expected_negated || actual.len != expected.len ||
                     memcmp(actual.bytes, expected.bytes, actual.len) != 0))
        fail_msg("`%s`: expected `%s`, got `%s`", shown(rule), shown(&expected), shown(&actual));
    if (!accepted && problem == NULL)
        fail_msg("`%s`: refused without a message", shown(rule));
}

static void every_rule_has_the_normal_form_of_the_definition(void **state) {
    (void)state;
    check_every_text("rules", "aC*./~: E\\!0", check_rule);
}

struct list {
    struct text *texts;
    struct points *points;
    size_t n;
};

/* Return every text that equals its own normal form. */
static struct list normal_texts(const char *letters, size_t most,
                                bool (*by_definition)(const struct text *, struct text *)) {
    struct list list = {NULL, NULL, 0};
    size_t room = 0;
    for (size_t length = 1; length <= most; length++)
        room += power(strlen(letters), length);
    list.texts = malloc(room * sizeof *list.texts);
    list.points = malloc(room * sizeof *list.points);
    assert_non_null(list.texts);
    assert_non_null(list.points);
    for (size_t length = 1; length <= most; length++) {
        for (size_t number = 0; number < power(strlen(letters), length); number++) {
            struct text text = numbered(letters, length, number);
            struct text normal = {.len = 0};
            if (!by_definition(&text, &normal) || !is(&normal, text.bytes))
                continue;
            list.points[list.n] = points_of(&text);
            list.texts[list.n++] = text;
        }
    }
    return list;
}

static void clear(struct list *list) {
    free(list->texts);
    free(list->points);
}

static void check_glob(const struct text *glob, const struct points *points,
                       const struct list *paths) {
    struct bs_glob *compiled = NULL;
    assert_int_equal(bs_glob_compile(glob->bytes, glob->len, BS_CASE_SENSITIVE, &compiled, NULL),
                     BS_OK);
    for (size_t p = 0; p < paths->n; p++) {
        const struct text *path = &paths->texts[p];
        bool expected = match_by_definition(points, &paths->points[p]);
        bool matched = !expected;
        assert_int_equal(bs_glob_match(compiled, path->bytes, path->len, &matched, NULL), BS_OK);
        if (matched != expected)
            fail_msg("`%s` and `%s`: expected %d", shown(glob), shown(path), expected);
        if (bs_oracle_glob_matches(glob->bytes, glob->len, path->bytes, path->len) != expected)
            fail_msg("`%s` and `%s`: the oracle of the fuzzers says %d", shown(glob), shown(path),
                     !expected);
    }
    bs_glob_free(compiled);
}

static void every_glob_decides_every_path_by_the_definition(void **state) {
    (void)state;
    const char *glob_letters = "ab*?/.E";
    const char *path_letters = "ab/.E";
    size_t most = longest(4);
    struct list globs = normal_texts(glob_letters, most, body_by_definition);
    struct list paths = normal_texts(path_letters, most, path_by_definition);
    for (size_t g = 0; g < globs.n; g++)
        check_glob(&globs.texts[g], &globs.points[g], &paths);
    print_message("globs: %zu of up to %zu letters with %zu paths of up to %zu, %zu cases\n",
                  globs.n, most, paths.n, most, globs.n * paths.n);
    clear(&globs);
    clear(&paths);
}

/* With fewer letters the test can try longer combinations of wildcards in the same time. */
static void every_longer_combination_of_wildcards_decides_by_the_definition(void **state) {
    (void)state;
    size_t most = longest(8);
    struct list globs = normal_texts("a*/", most, body_by_definition);
    struct list paths = normal_texts("ab/", most, path_by_definition);
    for (size_t g = 0; g < globs.n; g++)
        check_glob(&globs.texts[g], &globs.points[g], &paths);
    print_message("wildcards: %zu globs of up to %zu letters with %zu paths of up to %zu, "
                  "%zu cases\n",
                  globs.n, most, paths.n, most, globs.n * paths.n);
    clear(&globs);
    clear(&paths);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_has_the_normal_form_of_the_definition),
        cmocka_unit_test(every_rule_has_the_normal_form_of_the_definition),
        cmocka_unit_test(every_glob_decides_every_path_by_the_definition),
        cmocka_unit_test(every_longer_combination_of_wildcards_decides_by_the_definition),
    };
    return cmocka_run_group_tests_name("policy/definitions", tests, NULL, NULL);
}
