/* Tests the names that files have through links, and which links matter to the rules of a
 * policy. */
#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <errno.h>
#include <string.h>

#include "backend/plan/rule_words.h"
#include "backend/plan/symlink_names.h"
#include "support/append.h"
#include "support/harness.h"
#include "support/profiles.h"

struct found {
    char text[1024];
    unsigned n;
    bool replaceable;
};

static void add(void *ctx, const char *name, bool replaceable) {
    struct found *found = ctx;
    found->n++;
    found->replaceable = found->replaceable || replaceable;
    if (strlen(found->text) + strlen(name) + 2 < sizeof found->text) {
        append(found->text, sizeof found->text, name);
        append(found->text, sizeof found->text, " ");
    }
}

static int names_of(const char *const (*links)[2], size_t n, const char *path,
                    struct found *found) {
    struct bs_inner_links made = {NULL, 0, 0};
    *found = (struct found){.n = 0};
    for (size_t i = 0; i < n; i++)
        assert_true(bs_inner_links_add(&made, links[i][0], links[i][1], i == 0));
    bs_inner_links_sort(&made);
    int os_error = bs_linked_names(&made, path, add, found);
    bs_inner_links_clear(&made);
    return os_error;
}

static void a_file_has_a_name_below_each_link_to_a_directory_above_it(void **state) {
    static const char *const links[][2] = {{"one", "a"}, {"x/two", "a/b"}, {"no", "ab"}};
    struct found found;
    (void)state;
    assert_int_equal(names_of(links, LENGTH(links), "a/b/c", &found), 0);
    assert_string_equal(found.text, "one/b/c x/two/c ");
    assert_true(found.replaceable);
    assert_int_equal(names_of(links, LENGTH(links), "a/b", &found), 0);
    assert_string_equal(found.text, "one/b x/two ");
    assert_int_equal(names_of(links, LENGTH(links), "other", &found), 0);
    assert_int_equal(found.n, 0);
}

static void a_link_to_the_root_is_above_everything(void **state) {
    static const char *const links[][2] = {{"top", ""}};
    struct found found;
    (void)state;
    assert_int_equal(names_of(links, 1, "a", &found), 0);
    assert_string_equal(found.text, "top/a ");
    assert_int_equal(names_of(links, 1, "", &found), 0);
    assert_string_equal(found.text, "top ");
}

static void names_go_through_several_links(void **state) {
    static const char *const links[][2] = {{"one", "b"}, {"b/two", "dir"}};
    struct found found;
    (void)state;
    assert_int_equal(names_of(links, LENGTH(links), "dir/key", &found), 0);
    assert_string_equal(found.text, "b/two/key one/two/key ");
}

static void a_cycle_of_links_ends(void **state) {
    static const char *const links[][2] = {{"a/loop", "a"}, {"b/a", "a"}, {"a/b", "b"}};
    struct found found;
    (void)state;
    assert_int_equal(names_of(links, LENGTH(links), "a/x", &found), 0);
    assert_true(found.n >= 3 && found.n < 100);
}

static void more_names_than_fit_are_reported(void **state) {
    static const char *const links[][2] = {{"d/1", "d"}, {"d/2", "d"}, {"d/3", "d"}, {"d/4", "d"},
                                           {"d/5", "d"}, {"d/6", "d"}, {"d/7", "d"}, {"d/8", "d"},
                                           {"d/9", "d"}, {"d/a", "d"}};
    struct found found;
    (void)state;
    assert_int_equal(names_of(links, LENGTH(links), "d/x", &found), EOVERFLOW);
    assert_true(found.n <= BS_MOST_LINKED_NAMES);
}

static const char spec[] =
    "'denyRead': ['**/*.env', 'link/**', '**/secrets/key'], 'denyModify': "
    "['ok/**', '!ok/dir/**'], 'fsProfiles': {'p': {'read': ['**'], 'modify': "
    "['**']}}";

static void a_link_matters_if_a_word_of_a_rule_matches(void **state) {
    struct bs_profile *profile = profile_of(spec, NULL, "p", 0);
    struct bs_rule_words *words = NULL;
    (void)state;
    assert_int_equal(bs_rule_words_make(profile, &words), 0);
    assert_false(bs_link_is_relevant(words, "node_modules/a", "packages/a"));
    assert_true(bs_link_is_relevant(words, "link", "packages/a"));
    assert_true(bs_link_is_relevant(words, "a/secrets", "b"));
    assert_true(bs_link_is_relevant(words, "prod.env", "b"));
    /* An exception applies to the place to which the link leads. */
    assert_true(bs_link_is_relevant(words, "a", "ok/dir"));
    bs_rule_words_free(words);
    bs_profile_free(profile);
}

static void a_rule_reaches_below_a_path_that_its_words_match(void **state) {
    struct bs_profile *profile = profile_of(spec, NULL, "p", 0);
    struct bs_rule_words *words = NULL;
    (void)state;
    assert_int_equal(bs_rule_words_make(profile, &words), 0);
    assert_string_equal(bs_rule_below(words, BS_OP_READ, "link")->rule, "link/**");
    assert_string_equal(bs_rule_below(words, BS_OP_READ, "a/secrets")->rule, "**/secrets/key");
    /* The rule `**` gives no names to paths below this link. Rules of the other operation have no
     * effect here. */
    assert_null(bs_rule_below(words, BS_OP_READ, "other"));
    assert_null(bs_rule_below(words, BS_OP_MODIFY, "link"));
    assert_non_null(bs_rule_below(words, BS_OP_MODIFY, "ok"));
    assert_null(bs_rule_below(words, BS_OP_READ, "a/prod.env"));
    bs_rule_words_free(words);
    bs_profile_free(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_a_name_below_each_link_to_a_directory_above_it),
        cmocka_unit_test(a_link_to_the_root_is_above_everything),
        cmocka_unit_test(names_go_through_several_links),
        cmocka_unit_test(a_cycle_of_links_ends),
        cmocka_unit_test(more_names_than_fit_are_reported),
        cmocka_unit_test(a_link_matters_if_a_word_of_a_rule_matches),
        cmocka_unit_test(a_rule_reaches_below_a_path_that_its_words_match),
    };
    return cmocka_run_group_tests_name("backend/names", tests, NULL, NULL);
}
