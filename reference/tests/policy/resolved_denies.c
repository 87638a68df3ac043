/* Tests the denies of a path that is a link. */
#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <stdio.h>
#include <string.h>

#include "policy/workspace.h"
#include "support/harness.h"

static void assert_denied_by(const struct place *place, const char *path, const char *rule) {
    struct answer answer = check_path(place, path);
    if (answer.code != BS_OK)
        fail_msg("%s: %s", path, answer.err.message);
    assert_false(answer.allowed);
    assert_string_equal(answer.rule, rule);
}

static void a_deny_of_a_link_denies_the_place_it_leads_to(void **state) {
    struct place *place = *state;
    add_link(place, "link", "secret");
    add_link(place, "to-key", "secret/key");
    add_link(place, "docs/up", "../secret");
    static const char *const denies[] = {"link/**", "to-key",    "docs/up/key",
                                         "link/k*", "docs/up/*", "link/key"};
    for (size_t i = 0; i < LENGTH(denies); i++) {
        char lists[64];
        (void)snprintf(lists, sizeof lists, "'denyRead':['%s']", denies[i]);
        use_profile(place, lists, NULL, 0);
        assert_denied_by(place, "secret/key", denies[i]);
        assert_true(check_path(place, "docs/page").allowed);
        assert_true(check_path(place, "secret/other").allowed ==
                    (strcmp(denies[i], "link/**") != 0 && strcmp(denies[i], "docs/up/*") != 0));
    }
}

static void a_deny_of_a_link_to_the_root_denies_the_root(void **state) {
    struct place *place = *state;
    add_link(place, "docs/top", "..");
    use_profile(place, "'denyRead':['docs/top/secret/**','docs/top']", NULL, 0);
    assert_denied_by(place, "secret/key", "docs/top/secret/**");
    assert_denied_by(place, ".", "docs/top");
    assert_true(check_path(place, "docs/page").allowed);
}

static void a_deny_of_a_dangling_link_denies_its_target(void **state) {
    struct place *place = *state;
    add_link(place, "link", "docs/new");
    use_profile(place, "'denyRead':['link/**']", NULL, 0);
    assert_denied_by(place, "docs/new/file", "link/**");
}

static void a_deny_that_leads_nowhere_denies_no_other_place(void **state) {
    struct place *place = *state;
    add_link(place, "self", "self");
    add_link(place, "out", "../outside");
    add_link(place, "docs/star", "../secret");
    use_profile(place, "'denyRead':['self/**','out/**','docs/page/x','missing/x','docs/st*/key']",
                NULL, 0);
    assert_true(check_path(place, "secret/key").allowed);
    assert_true(check_path(place, "docs/page").allowed);
}

static void a_deny_of_a_link_counts_at_its_place_of_the_list(void **state) {
    struct place *place = *state;
    add_link(place, "link", "secret");
    use_profile(place, "'fsProfiles':{'p':{'read':['**','!link/**','secret/key'],'modify':[]}}",
                "p", 0);
    assert_true(check_path(place, "secret/key").allowed);
    assert_denied_by(place, "secret/other", "link/**");
}

static void an_exception_cancels_the_denies_of_links_before_it(void **state) {
    struct place *place = *state;
    struct bs_resolved resolved;
    struct bs_error err = BS_ERROR_INIT;
    add_link(place, "link", "secret");
    use_profile(place, "'denyModify':['link/**','secret/**','!secret/key']", NULL, 0);
    int code = bs_check_resolved(place->profile, place->root, BS_OP_MODIFY, "secret/key", 10,
                                 BS_FOLLOW_FINAL, &resolved, &err);
    assert_true(answered(code, &resolved, &err).allowed);
    use_profile(place, "'denyModify':['secret/**','!secret/key','link/**']", NULL, 0);
    code = bs_check_resolved(place->profile, place->root, BS_OP_MODIFY, "secret/key", 10,
                             BS_FOLLOW_FINAL, &resolved, &err);
    struct answer answer = answered(code, &resolved, &err);
    assert_false(answer.allowed);
    assert_string_equal(answer.rule, "link/**");
}

static void a_deny_of_a_link_folds_at_the_place_it_leads_to(void **state) {
    struct place *place = *state;
    add_link(place, "link", "secret");
    use_profile(place, "'denyRead':['link/Key']", NULL, BS_FOLD);
    assert_denied_by(place, "secret/key", "link/Key");
    assert_denied_by(place, "SECRET/KEY", "link/Key");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_place(a_deny_of_a_link_denies_the_place_it_leads_to),
        in_a_place(a_deny_of_a_link_to_the_root_denies_the_root),
        in_a_place(a_deny_of_a_dangling_link_denies_its_target),
        in_a_place(a_deny_that_leads_nowhere_denies_no_other_place),
        in_a_place(a_deny_of_a_link_counts_at_its_place_of_the_list),
        in_a_place(an_exception_cancels_the_denies_of_links_before_it),
        in_a_place(a_deny_of_a_link_folds_at_the_place_it_leads_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
