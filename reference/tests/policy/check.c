/* Tests checks of paths, and counts their allocations. Only calls from the project's own objects
 * reach the wrappers. */
#include <boxspec/profile.h>

#include <stdlib.h>
#include <string.h>

#include "support/allocations.h"
#include "support/harness.h"
#include "support/profiles.h"

static void the_last_match_wins(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of(
        "'denyRead':['secret/**'],"
        "'fsProfiles':{'p':{'read':['**','!docs/**','docs/a/**','secret/x'],'modify':[]}}",
        NULL, "p", 0);
    assert_allowed(profile, BS_OP_READ, "src/x", "**");
    assert_denied(profile, BS_OP_READ, "docs/x", "docs/**");
    assert_allowed(profile, BS_OP_READ, "docs/a/x", "docs/a/**");
    assert_denied(profile, BS_OP_READ, "secret/x", "secret/**");
    assert_denied(profile, BS_OP_MODIFY, "src/x", BS_NO_POSITIVE_RULE);
    bs_profile_free(profile);
}

static void a_path_that_no_rule_matches_is_denied(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("'denyRead':['x'],'fsProfiles':{'p':{'read':['a'],"
                                            "'modify':['!a']},'none':{'read':[],'modify':[]}}",
                                            NULL, "p", 0);
    assert_denied(profile, BS_OP_READ, "b", BS_NO_MATCHING_RULE);
    assert_denied(profile, BS_OP_READ, ".", BS_NO_MATCHING_RULE);
    assert_denied(profile, BS_OP_MODIFY, "b", BS_NO_POSITIVE_RULE);
    assert_denied(profile, BS_OP_MODIFY, "a", "a");
    bs_profile_free(profile);
    profile = profile_of("'fsProfiles':{'none':{'read':[],'modify':[]}}", NULL, "none", 0);
    assert_denied(profile, BS_OP_READ, "b", BS_NO_POSITIVE_RULE);
    assert_denied(profile, BS_OP_MODIFY, "b", BS_NO_POSITIVE_RULE);
    size_t n = 1;
    assert_null(bs_profile_entries(profile, BS_OP_READ, &n));
    assert_int_equal(n, 0);
    bs_profile_free(profile);
}

static void inside_an_exception_the_profile_decides(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of(
        "'denyModify':['.state/**','!.state/cache/**','.state/cache/keys/**'],"
        "'fsProfiles':{'p':{'read':['**'],'modify':['.state/cache/**','!**/*.lock','src/**']}}",
        "'denyModify':['.state/cache/b']", "p", 0);
    assert_denied(profile, BS_OP_MODIFY, ".state/x", ".state/**");
    assert_allowed(profile, BS_OP_MODIFY, ".state/cache/x", ".state/cache/**");
    assert_denied(profile, BS_OP_MODIFY, ".state/cache/x.lock", "**/*.lock");
    assert_denied(profile, BS_OP_MODIFY, ".state/cache/keys/k", ".state/cache/keys/**");
    assert_denied(profile, BS_OP_MODIFY, ".state/cache/b", ".state/cache/b");
    bs_profile_free(profile);
    profile = profile_of("'denyModify':['**','!a'],"
                         "'fsProfiles':{'p':{'read':['b'],'modify':['b']}}",
                         NULL, "p", 0);
    assert_denied(profile, BS_OP_MODIFY, "a", BS_NO_MATCHING_RULE);
    bs_profile_free(profile);
    profile = profile_of("'denyModify':['**','!a'],'fsProfiles':{'p':{'read':[],'modify':[]}}",
                         NULL, "p", 0);
    assert_denied(profile, BS_OP_MODIFY, "a", BS_NO_POSITIVE_RULE);
    bs_profile_free(profile);
}

static void unrestricted_is_synthesised_unless_it_is_defined(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("'denyRead':['k']", NULL, NULL, 0);
    assert_true(bs_profile_is_synthesized(profile));
    assert_string_equal(bs_profile_name(profile), BS_UNRESTRICTED);
    assert_allowed(profile, BS_OP_READ, ".", "**");
    assert_allowed(profile, BS_OP_MODIFY, "k", "**");
    assert_denied(profile, BS_OP_READ, "k", "k");
    bs_profile_free(profile);
    profile = profile_of("'fsProfiles':{'unrestricted':{'read':['a'],'modify':[]}}", NULL, NULL, 0);
    assert_false(bs_profile_is_synthesized(profile));
    assert_denied(profile, BS_OP_READ, "b", BS_NO_MATCHING_RULE);
    bs_profile_free(profile);
}

static void an_unknown_profile_is_an_error(void **state) {
    (void)state;
    char *text = policy_text("'fsProfiles':{'p':{'read':[],'modify':[]}}");
    struct bs_policy_text global = {text, strlen(text), BS_POLICY_JSON};
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_policy *policy = NULL;
    struct bs_profile *profile = NULL;
    assert_int_equal(bs_policy_load(&global, NULL, &policy, &report, &err), BS_OK);
    assert_int_equal(bs_profile_compile(policy, "q", 0, &profile, &err), BS_E_INVALID);
    assert_non_null(strstr(err.message, "unknown profile `q`"));
    assert_int_equal(bs_profile_compile(policy, "P", 0, &profile, NULL), BS_E_INVALID);
    assert_int_equal(bs_profile_compile(policy, "", 0, &profile, &err), BS_E_INVALID);
    assert_null(profile);
    bs_policy_free(policy);
    bs_policy_report_clear(&report);
    free(text);
}

static void a_refused_path_is_an_error(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("", NULL, NULL, 0);
    static const char *const paths[] = {"",    "/a",   "../a", "a/..", "~",    "~/a",
                                        "C:a", "a\\b", " a",   "a\t",  "\xFF", "./~"};
    for (size_t i = 0; i < LENGTH(paths); i++) {
        struct bs_decision decision;
        struct bs_error err = BS_ERROR_INIT;
        assert_int_equal(
            bs_profile_check(profile, BS_OP_READ, paths[i], strlen(paths[i]), &decision, &err),
            BS_E_INVALID);
        assert_true(err.message[0] != '\0');
        bs_decision_clear(&decision);
    }
    struct bs_decision decision;
    assert_int_equal(bs_profile_check(profile, BS_OP_READ, "a\0b", 3, &decision, NULL),
                     BS_E_INVALID);
    bs_profile_free(profile);
}

static void the_normal_form_is_in_the_input_or_in_the_buffer(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("", NULL, NULL, 0);
    struct bs_decision decision;
    static const char normal[] = "src/main.c and what follows";
    assert_int_equal(bs_profile_check(profile, BS_OP_READ, normal, 10, &decision, NULL), BS_OK);
    assert_ptr_equal(decision.path, normal);
    assert_int_equal(decision.path_len, 10);
    assert_int_equal(bs_profile_check(profile, BS_OP_READ, "./src//main.c/", 14, &decision, NULL),
                     BS_OK);
    assert_ptr_equal(decision.path, decision.buffer);
    assert_string_equal(decision.buffer, "src/main.c");
    bs_profile_free(profile);
}

static void a_rule_for_a_name_with_an_exclamation_mark_is_reported_with_its_prefix(void **state) {
    (void)state;
    struct bs_profile *profile =
        profile_of("'fsProfiles':{'p':{'read':['./!x'],'modify':[]}}", NULL, "p", 0);
    assert_allowed(profile, BS_OP_READ, "!x", "./!x");
    bs_profile_free(profile);
}

static void folding_ignores_case(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("'denyRead':['**/*.env']", NULL, NULL, BS_FOLD);
    assert_denied(profile, BS_OP_READ, "a/.ENV", "**/*.env");
    bs_profile_free(profile);
    profile = profile_of("'denyRead':['**/*.env']", NULL, NULL, 0);
    assert_allowed(profile, BS_OP_READ, "a/.ENV", "**");
    bs_profile_free(profile);
}

static char *long_path(size_t len, char filler) {
    char *path = malloc(len + 1);
    assert_non_null(path);
    memset(path, filler, len);
    path[len] = '\0';
    return path;
}

static void a_check_does_not_allocate_up_to_its_bound(void **state) {
    (void)state;
    struct bs_profile *profiles[2];
    static const char spec[] =
        "'denyModify':['.state/**','!.state/cache/**','**/*.e?v'],"
        "'fsProfiles':{'p':{'read':['**'],'modify':['src/**','**/a*b/**/c']}}";
    for (unsigned fold = 0; fold < 2; fold++)
        profiles[fold] = profile_of(spec, NULL, "p", fold * BS_FOLD);
    char *longest = long_path(BS_CHECK_PATH_BYTES, 'a');
    char *segments = long_path(BS_CHECK_PATH_BYTES, 'a');
    for (size_t i = 1; i < BS_CHECK_PATH_BYTES - 1; i += 3)
        segments[i] = '/';
    const char *const paths[] = {"src/x", ".",      "./src//x/",  ".state/cache/x",
                                 longest, segments, "\xC3\x84/b", "/refused"};
    unsigned before = allocations.count;
    for (size_t i = 0; i < LENGTH(paths) * 2; i++) {
        struct bs_decision decision;
        struct bs_error err;
        const char *path = paths[i / 2];
        for (int op = BS_OP_READ; op <= BS_OP_MODIFY; op++)
            (void)bs_profile_check(profiles[i % 2], (enum bs_op)op, path, strlen(path), &decision,
                                   &err);
    }
    assert_int_equal(allocations.count, before);
    free(longest);
    free(segments);
    bs_profile_free(profiles[0]);
    bs_profile_free(profiles[1]);
}

static void a_longer_path_is_decided_too(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of("'denyRead':['**/z']", NULL, NULL, 0);
    enum { LEN = 3 * BS_CHECK_PATH_BYTES };
    struct bs_decision decision;
    char *path = long_path(LEN, 'a');
    path[LEN - 3] = path[LEN - 2] = '/';
    path[LEN - 1] = 'z';
    assert_int_equal(bs_profile_check(profile, BS_OP_READ, path, LEN, &decision, NULL), BS_OK);
    assert_false(decision.allowed);
    assert_int_equal(decision.path_len, LEN - 1);
    assert_memory_equal(decision.path + LEN - 4, "a/z", 3);
    bs_decision_clear(&decision);
    bs_decision_clear(&decision);
    allocations.fail_at = allocations.count + 1;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_profile_check(profile, BS_OP_READ, path, LEN, &decision, &err);
    allocations.fail_at = 0;
    assert_int_equal(code, BS_E_EXECUTION);
    free(path);
    bs_profile_free(profile);
}

struct question {
    const struct bs_profile *profile;
    const char *path;
};

static int ask_once(const void *context, struct bs_error *err) {
    const struct question *question = context;
    struct bs_decision decision;
    int code = bs_profile_check(question->profile, BS_OP_READ, question->path,
                                strlen(question->path), &decision, err);
    if (code != BS_OK)
        return code;
    assert_true(decision.allowed);
    assert_string_equal(decision.matched_rule, "a/**");
    bs_decision_clear(&decision);
    return BS_OK;
}

static int explain_once(const void *context, struct bs_error *err) {
    const struct question *question = context;
    struct bs_explanation explanation;
    int code = bs_profile_explain(question->profile, BS_OP_READ, question->path,
                                  strlen(question->path), &explanation, err);
    if (code != BS_OK)
        return code;
    assert_true(explanation.n_entries == 2 && explanation.entries[0].deciding);
    bs_explanation_clear(&explanation);
    return BS_OK;
}

/* A long path needs memory for its normal form, for its folded form and for folding. If one of
 * these allocations fails, the result must be an error and not a decision, not even a denial. */
static void every_failed_allocation_of_a_check_is_an_error(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of(
        "'fsProfiles':{'p':{'read':['a/**','**/z?**x'],'modify':[]}}", NULL, "p", BS_FOLD);
    char *path = long_path(3 * BS_CHECK_PATH_BYTES, 'a');
    path[1] = path[2] = '/';
    memcpy(path + 3, "\xC3\x84", 2); /* NOLINT: the path goes on after them */
    const struct question question = {profile, path};
    each_allocation_fails(ask_once, &question, BS_OK, 2);
    each_allocation_fails(explain_once, &question, BS_OK, 6);
    free(path);
    bs_profile_free(profile);
}

static int compile_once(const void *context, struct bs_error *err) {
    struct bs_profile *profile = NULL;
    int code = bs_profile_compile(context, "p", BS_FOLD, &profile, err);
    assert_int_equal(code == BS_OK, profile != NULL);
    if (code == BS_OK)
        assert_denied(profile, BS_OP_MODIFY, "A/c", "a/**");
    bs_profile_free(profile);
    return code;
}

static void every_failed_allocation_of_a_compilation_is_an_error(void **state) {
    (void)state;
    char *text = policy_text("'denyRead':['**/*.env'],'denyModify':['a/**','!a/b'],"
                             "'fsProfiles':{'p':{'read':['**'],'modify':['./!x','src/**']}}");
    struct bs_policy_text global = {text, strlen(text), BS_POLICY_JSON};
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_policy *policy = NULL;
    assert_int_equal(bs_policy_load(&global, NULL, &policy, &report, NULL), BS_OK);
    each_allocation_fails(compile_once, policy, BS_OK, 5);
    bs_policy_free(policy);
    bs_policy_report_clear(&report);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_match_wins),
        cmocka_unit_test(a_path_that_no_rule_matches_is_denied),
        cmocka_unit_test(inside_an_exception_the_profile_decides),
        cmocka_unit_test(unrestricted_is_synthesised_unless_it_is_defined),
        cmocka_unit_test(an_unknown_profile_is_an_error),
        cmocka_unit_test(a_refused_path_is_an_error),
        cmocka_unit_test(the_normal_form_is_in_the_input_or_in_the_buffer),
        cmocka_unit_test(a_rule_for_a_name_with_an_exclamation_mark_is_reported_with_its_prefix),
        cmocka_unit_test(folding_ignores_case),
        cmocka_unit_test(a_check_does_not_allocate_up_to_its_bound),
        cmocka_unit_test(a_longer_path_is_decided_too),
        cmocka_unit_test(every_failed_allocation_of_a_check_is_an_error),
        cmocka_unit_test(every_failed_allocation_of_a_compilation_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
