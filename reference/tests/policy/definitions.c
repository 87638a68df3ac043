/* Compares the matcher and the two normalisers with their definitions, for every text up to a
 * certain length.
 *
 * The definitions are written from the policy contract (POLICY-PATH-..., POLICY-RULE-...,
 * POLICY-GLOB-...), clause by clause and without regard to cost. They share no code with the
 * library or with fuzz/support/glob_oracle.c, which is compared with them too.
 *
 * Each test prints its bounds and the number of cases. BOXSPEC_LONGER=N adds N to each length. Each
 * additional letter multiplies the time by about 10, and by about 40 for the globs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/glob.h>
#include <boxspec/path.h>

#include "policy/path/path.h"
#include "policy/path/rule.h"
#include "support/glob_oracle.h"
#include "support/harness.h"

enum { ROOM = 128 };

struct text {
    char bytes[ROOM];
    size_t len;
};

static void append(struct text *text, const char *bytes, size_t len) {
    assert_true(text->len + len < ROOM);
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

static bool is(const struct text *text, const char *word) {
    return text->len == strlen(word) && memcmp(text->bytes, word, text->len) == 0;
}

/* ---- Definition of the normal forms ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* POLICY-PATH-02 and POLICY-RULE-04. True if the text is empty, absolute, `~`, or begins with `~/`
 * or a drive prefix. */
static bool is_foreign(const struct text *text) {
    const char *t = text->bytes;
    bool letter = text->len > 0 && ((t[0] >= 'a' && t[0] <= 'z') || (t[0] >= 'A' && t[0] <= 'Z'));
    return text->len == 0 || t[0] == '/' || is(text, "~") ||
           (text->len >= 2 && t[0] == '~' && t[1] == '/') ||
           (text->len >= 2 && letter && t[1] == ':');
}

static bool has(const struct text *text, char byte) {
    return memchr(text->bytes, byte, text->len) != NULL;
}

/* True if the text is UTF-8. The alphabets below have only two letters beyond ASCII: e acute, which
 * has two bytes, and the first of these bytes by itself. */
static bool is_utf8(const struct text *text) {
    for (size_t i = 0; i < text->len; i++) {
        if (text->bytes[i] == '\xC3') {
            if (i + 1 == text->len || text->bytes[i + 1] != '\xA9')
                return false;
            i++;
        }
    }
    return true;
}

/* POLICY-PATH-01, -03 and POLICY-RULE-02, -05. Returns false if there is a `..` segment. */
static bool drop_segments(const struct text *from, struct text *to) {
    *to = (struct text){.len = 0};
    size_t i = 0;
    while (i < from->len) {
        struct text segment = {.len = 0};
        for (; i < from->len && from->bytes[i] != '/'; i++)
            append(&segment, &from->bytes[i], 1);
        i++;
        if (is(&segment, ".."))
            return false;
        if (segment.len == 0 || is(&segment, "."))
            continue;
        if (to->len > 0)
            append(to, "/", 1);
        append(to, segment.bytes, segment.len);
    }
    if (to->len == 0)
        append(to, ".", 1);
    return true;
}

static bool has_blank_end(const struct text *text) {
    return is_blank(text->bytes[0]) || is_blank(text->bytes[text->len - 1]);
}

/* Returns false if the path is refused. */
static bool path_by_definition(const struct text *path, struct text *normal) {
    return !is_foreign(path) && !has(path, '\\') && !has(path, '\0') && is_utf8(path) &&
           !has_blank_end(path) && drop_segments(path, normal) && !is_foreign(normal) &&
           !has_blank_end(normal);
}

static struct text without_blanks(const struct text *text) {
    size_t start = 0;
    size_t end = text->len;
    while (start < end && is_blank(text->bytes[start]))
        start++;
    while (end > start && is_blank(text->bytes[end - 1]))
        end--;
    struct text result = {.len = 0};
    append(&result, text->bytes + start, end - start);
    return result;
}

/* POLICY-GLOB-09: a run of three or more stars means `**`. */
static struct text with_short_runs(const struct text *text) {
    struct text result = {.len = 0};
    for (size_t i = 0; i < text->len; i++) {
        if (i < 2 || memcmp(text->bytes + i - 2, "***", 3) != 0)
            append(&result, &text->bytes[i], 1);
    }
    return result;
}

static bool body_by_definition(const struct text *body, struct text *normal) {
    struct text slashed = without_blanks(body);
    for (size_t i = 0; i < slashed.len; i++) {
        if (slashed.bytes[i] == '\\')
            slashed.bytes[i] = '/';
    }
    struct text dropped;
    if (is_foreign(&slashed) || has(&slashed, '\0') || !is_utf8(&slashed) ||
        !drop_segments(&slashed, &dropped) || is_foreign(&dropped))
        return false;
    *normal = with_short_runs(&dropped);
    return true;
}

static bool rule_by_definition(const struct text *rule, bool *negated, struct text *normal) {
    struct text body = without_blanks(rule);
    *negated = body.len > 0 && body.bytes[0] == '!';
    if (*negated) {
        struct text rest = {.len = 0};
        append(&rest, body.bytes + 1, body.len - 1);
        body = without_blanks(&rest);
        if (body.len == 0 || body.bytes[0] == '!')
            return false;
    }
    return body_by_definition(&body, normal);
}

/* ---- Definition of the match ---- */

/* The code points of a glob or path in normal form. The root has no code point. */
struct points {
    unsigned at[ROOM];
    size_t n;
};

static struct points points_of(const struct text *text) {
    struct points points = {.n = 0};
    for (size_t i = 0; i < text->len && !is(text, "."); i++) {
        if (text->bytes[i] == '\xC3')
            points.at[points.n++] = 0xE9, i++;
        else
            points.at[points.n++] = (unsigned char)text->bytes[i];
    }
    return points;
}

/* True if the glob from code point `at` on matches the path from code point `from` on. The glob
 * must not end in a `**` segment after a slash. */
static bool rest_matches(const struct points *glob, size_t at, const struct points *path,
                         size_t from) {
    if (at == glob->n)
        return from == path->n;
    if (glob->at[at] != '*') {
        bool same = from < path->n && (glob->at[at] == path->at[from] ||
                                       (glob->at[at] == '?' && path->at[from] != '/'));
        return same && rest_matches(glob, at + 1, path, from + 1);
    }
    bool starts = at == 0 || glob->at[at - 1] == '/';
    size_t after = at + 1;
    bool one_star = after == glob->n || glob->at[after] != '*';
    after += !one_star;
    bool ends = after == glob->n || glob->at[after] == '/';
    if (one_star) {
        /* POLICY-GLOB-03 and -04 */
        size_t least = starts && ends ? 1 : 0;
        for (size_t taken = 0;; taken++) {
            if (taken >= least && rest_matches(glob, after, path, from + taken))
                return true;
            if (from + taken == path->n || path->at[from + taken] == '/')
                return false;
        }
    }
    /* The stars match whole segments, each with its slash (POLICY-GLOB-06), or else any text
     * (POLICY-GLOB-08). */
    bool segments = starts && after < glob->n && ends;
    for (size_t to = from; to <= path->n; to++) {
        bool allowed = !segments || to == from || path->at[to - 1] == '/';
        if (allowed && rest_matches(glob, after + segments, path, to))
            return true;
    }
    return false;
}

static bool match_by_definition(const struct points *glob, const struct points *path) {
    size_t n = glob->n;
    if (n < 3 || glob->at[n - 3] != '/' || glob->at[n - 2] != '*' || glob->at[n - 1] != '*')
        return rest_matches(glob, 0, path, 0);
    /* POLICY-GLOB-07: the glob matches the paths that the part before the `**` matches, and every
     * path below them. */
    struct points top = *glob;
    top.n -= 3;
    if (match_by_definition(&top, path))
        return true;
    struct points above = *path;
    for (above.n = 1; above.n < path->n; above.n++) {
        if (path->at[above.n] == '/' && match_by_definition(&top, &above))
            return true;
    }
    return false;
}

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
