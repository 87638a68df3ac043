#include "policy/match/keys.h"

#include <stdio.h>
#include <string.h>

#include "policy/match/index.h"
#include "support/harness.h"
#include "support/spent.h"

/* Write a key as "KIND TEXT THEN". THEN is the glob, or the name of the condition if there is no
 * glob. */
static void write_key(char *out, size_t size, const struct bs_key *key) {
    static const char *const kinds[] = {"top", "name", "head", "ending"};
    static const char *const then[] = {"last", "inside"};
    const char *what = key->then == BS_KEY_GLOB ? key->glob.text : then[key->then];
    size_t len = key->then == BS_KEY_GLOB ? key->glob.len : strlen(what);
    (void)snprintf(out, size, "%s %.*s %.*s", kinds[key->kind], (int)key->len, key->text, (int)len,
                   what);
}

static void each_rule_has_the_keys_that_its_paths_have(void **state) {
    (void)state;
    static const struct {
        const char *rule;
        const char *keys[BS_KEYS_OF_A_RULE];
    } rows[] = {
        {"a", {"top a last"}},
        {"a/b.c", {"top a/b.c last"}},
        {"a/**", {"top a inside"}},
        {"a/b/**", {"top a/b inside"}},
        {"a/b/**/**", {"top a/b inside"}},
        {"a/b*", {"top a b*"}},
        {"a/b/*.c", {"top a/b *.c", "ending .c a/b/*.c"}},
        {"a/**/b", {"top a **/b", "ending /b a/**/b"}},
        {"a/*/**", {"top a */**"}},
        {"*.c", {"ending .c *.c"}},
        {"?/a", {"ending /a ?/a"}},
        {"*/*.longer-than-eight", {"ending an-eight */*.longer-than-eight"}},
        {"**/a", {"name a last"}},
        {"**/**/a", {"name a last"}},
        {"**/a/**", {"name a inside"}},
        {"**/a/b", {"name a b", "ending a/b **/a/b"}},
        {"**/a/b/**", {"name a b/**"}},
        {"**/a/*.c", {"name a *.c", "ending .c **/a/*.c"}},
        {"**/*.c", {"ending .c last"}},
        {"**/*12345678", {"ending 12345678 last"}},
        {"**/*123456789", {"ending 23456789 **/*123456789"}},
        {"**/*x/b", {"ending x/b last"}},
        {"**/a?c", {"head a a?c", "ending c **/a?c"}},
        {"**/a*", {"head a a*"}},
        {"**/123456789*", {"head 12345678 123456789*"}},
        {"**/a*/**", {"head a a*/**"}},
        {"**/a*/b", {"head a a*/b", "ending /b **/a*/b"}},
        /* The ending is the only key. If a name or the head were a key, the second `**` would be
         * searched again for each occurrence of that name in a path. */
        {"**/a/**/b", {"ending /b **/a/**/b"}},
        {"**/a/**/b*", {NULL}},
        {"**/a*/**/b*", {NULL}},
        {"*", {NULL}},
        {"?", {NULL}},
        {"*/a/**", {NULL}},
        {"**/*", {NULL}},
        {"**/?a*", {NULL}},
        {"a**b", {NULL}},
        {"a/**b/c", {NULL}},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bs_key keys[BS_KEYS_OF_A_RULE];
        const struct bs_pattern pattern = {rows[i].rule, strlen(rows[i].rule)};
        size_t n = bs_keys_of(&pattern, keys);
        for (size_t k = 0; k < BS_KEYS_OF_A_RULE; k++) {
            char text[200] = "";
            if (k < n)
                write_key(text, sizeof text, &keys[k]);
            const char *expected = rows[i].keys[k] != NULL ? rows[i].keys[k] : "";
            if (strcmp(text, expected) != 0)
                fail_msg("`%s`, key %zu: `%s`, expected `%s`", rows[i].rule, k, text, expected);
        }
    }
}

enum { MANY = 200 };

/* Build an index of MANY rules. `format` makes the text of each rule from its number. */
static void build_index(struct bs_index *index, const char *format) {
    static char texts[MANY][64];
    static struct bs_pattern patterns[MANY];
    bool left[MANY] = {false};
    for (size_t i = 0; i < MANY; i++) {
        int len = snprintf(texts[i], sizeof texts[i], format, i);
        patterns[i] = (struct bs_pattern){texts[i], (size_t)len};
    }
    assert_true(bs_index_build(index, patterns, MANY, false, left));
    for (size_t i = 0; i < MANY; i++)
        assert_false(left[i]);
}

static void a_rule_gets_its_rarest_key(void **state) {
    (void)state;
    static const char *const formats[] = {"src/*_%zu.c", "src%zu/*.c", "**/n%zu/*.c",
                                          "**/n/*.%zu",  "**/h%zu*.c", "**/h*.%zu"};
    for (size_t f = 0; f < LENGTH(formats); f++) {
        struct bs_index index;
        build_index(&index, formats[f]);
        assert_int_equal(index.n_candidates, MANY);
        for (uint32_t i = 0; i < index.n_buckets; i++)
            assert_in_range(index.buckets[i].n, 0, 1);
        bs_index_clear(&index);
    }
}

static void an_index_does_not_search_again_at_each_name_of_a_path(void **state) {
    (void)state;
    static const char *const formats[] = {"**/a/b%zu/**", "**/a*/b%zu"};
    static char path[200000];
    for (size_t i = 0; i < sizeof path; i++)
        path[i] = i % 2 == 0 ? 'a' : '/';
    const struct bs_path_view view = {.text = path, .len = sizeof path - 1};
    for (size_t f = 0; f < LENGTH(formats); f++) {
        struct bs_index index;
        build_index(&index, formats[f]);
        double start = spent_ms();
        assert_int_equal(bs_index_highest(&index, &view, BS_NO_RULE), BS_NO_RULE);
        double took = spent_ms() - start;
        bs_index_clear(&index);
        if (took > 2000)
            fail_msg("`%s`: %.0f ms", formats[f], took);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_the_keys_that_its_paths_have),
        cmocka_unit_test(a_rule_gets_its_rarest_key),
        cmocka_unit_test(an_index_does_not_search_again_at_each_name_of_a_path),
    };
    return cmocka_run_group_tests_name("policy/keys", tests, NULL, NULL);
}
