#define _GNU_SOURCE
#include "policy/loading.h"

#define PROFILE(read, modify) "\"fsProfiles\":{\"p\":{\"read\":[" read "],\"modify\":[" modify "]}}"

static void assert_valid(const char *text) { assert_loads(load_json(text)); }

static void assert_one_problem_at(const char *text, const char *pointer) {
    struct loaded loaded = load_json(text);
    assert_int_equal(loaded.report.n_problems, 1);
    assert_string_equal(loaded.report.problems[0].pointer, pointer);
    unload(&loaded);
}

static void modify_rules_need_a_read_rule(void **state) {
    (void)state;
    assert_valid(SPEC(PROFILE("\"a/**\"", "\"a\",\"a/b\",\"a/**\",\"a/b/**\",\"a/*.c\"")));
    assert_valid(SPEC(PROFILE("\"./**\"", "\"x\",\"**/*.c\"")));
    assert_valid(SPEC(PROFILE("\"a/\"", "\"./a\"")));
    assert_valid(SPEC(PROFILE("\"*/x/**\"", "\"*/x/y\"")));
    static const char *const uncovered[] = {SPEC(PROFILE("\"a/**\"", "\"ab\"")),
                                            SPEC(PROFILE("\"a\"", "\"a/b\"")),
                                            SPEC(PROFILE("\"a/*\"", "\"a/b\"")),
                                            SPEC(PROFILE("", "\"a\"")),
                                            SPEC(PROFILE("\"!a/**\"", "\"a/b\"")),
                                            SPEC(PROFILE("\"a/b/**\"", "\"a/**\"")),
                                            SPEC(PROFILE("\"*/x/**\"", "\"a/x\"")),
                                            SPEC("\"fsProfiles\":{\"p\":{\"modify\":[\"a\"]}}")};
    for (size_t i = 0; i < LENGTH(uncovered); i++)
        assert_one_problem_at(uncovered[i], "/spec/fsProfiles/p/modify/0");
}

static void negated_rules_need_no_cover(void **state) {
    (void)state;
    assert_valid(SPEC(PROFILE("\"a/**\"", "\"a/**\",\"!b\"")));
}

static void a_rule_must_not_equal_a_deny_of_its_kind(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {SPEC("\"denyRead\":[\"a\"]," PROFILE("\"a/\"", "")), "/spec/fsProfiles/p/read/0"},
        {SPEC("\"denyRead\":[\"a\"]," PROFILE("\"!a\"", "")), "/spec/fsProfiles/p/read/0"},
        {SPEC("\"denyRead\":[\"a\"]," PROFILE("\"**\"", "\"a\"")), "/spec/fsProfiles/p/modify/0"},
        {SPEC("\"denyModify\":[\"a\"]," PROFILE("\"**\"", "\"!a\"")),
         "/spec/fsProfiles/p/modify/0"},
        {SPEC("\"denyRead\":[\"a\"],\"denyModify\":[\"a\"]," PROFILE("\"**\"", "\"a\"")),
         "/spec/fsProfiles/p/modify/0"}};
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_one_problem_at(bad[i][0], bad[i][1]);
    assert_valid(SPEC("\"denyModify\":[\"a\"]," PROFILE("\"a\"", "")));
    assert_valid(SPEC("\"denyModify\":[\"a/**\",\"!a/b\"]," PROFILE("\"**\"", "\"a/b\"")));
    assert_valid(SPEC("\"denyRead\":[\"a/**\"]," PROFILE("\"a\",\"a/b\"", "")));
}

static void exceptions_must_have_a_valid_form(void **state) {
    (void)state;
    static const char *const bad[] = {"!**",  "!*",      "!a/*",    "!a/?/**",
                                      "!a**", "!a/**/b", "!a/**/**"};
    char text[256];
    for (size_t i = 0; i < LENGTH(bad); i++) {
        (void)snprintf(text, sizeof text, SPEC("\"denyModify\":[\"a/**\",\"**\",\"%s\"]"), bad[i]);
        assert_one_problem_at(text, "/spec/denyModify/2");
        assert_says(load_json(text), "wildcards");
    }
}

static void an_exception_lies_inside_an_earlier_deny(void **state) {
    (void)state;
    assert_valid(SPEC("\"denyModify\":[\"a/**\",\"!a/b\",\"!a/b/**\",\"!a\",\"!a/b/c/d\"]"));
    assert_valid(SPEC("\"denyModify\":[\"**\",\"!.\",\"!a/**\",\"!x\"]"));
    assert_valid(SPEC("\"denyModify\":[\"a\",\"**\",\"!a\"]"));
    static const char *const bad[] = {
        SPEC("\"denyModify\":[\"a\",\"!a\"]"),         SPEC("\"denyModify\":[\"a/**\",\"!a/**\"]"),
        SPEC("\"denyModify\":[\"a/**\",\"!ab\"]"),     SPEC("\"denyModify\":[\"b\",\"!b/c\"]"),
        SPEC("\"denyModify\":[\"a/b/**\",\"!a/**\"]"), SPEC("\"denyModify\":[\"a/*\",\"!a/b/**\"]"),
        SPEC("\"denyModify\":[\"a/**\",\"!.\"]")};
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_one_problem_at(bad[i], "/spec/denyModify/1");
    assert_one_problem_at(SPEC("\"denyModify\":[\"!a/b\",\"a/**\"]"), "/spec/denyModify/0");
}

static void a_deny_with_wildcards_may_contain_an_exception(void **state) {
    (void)state;
    assert_valid(SPEC("\"denyModify\":[\"**/*.env\",\"!a/x.env\"]"));
    assert_valid(SPEC("\"denyModify\":[\"**/k/**\",\"!a/k/b/**\",\"!k\"]"));
    assert_one_problem_at(SPEC("\"denyModify\":[\"!a/x.env\",\"**/*.env\"]"), "/spec/denyModify/0");
    assert_one_problem_at(SPEC("\"denyModify\":[\"**/k/*\",\"!a/k/b/**\"]"), "/spec/denyModify/1");
    /* An exception must come after a deny that contains it. Only one such deny is needed, and the
     * earliest one counts. */
    assert_valid(SPEC("\"denyModify\":[\"*.a\",\"!x.a\",\"x.*\",\"**/x.a\"]"));
}

/* Return a policy of `n` rules, `n` denies and `n` exceptions, of which none lies inside
 * another. */
static char *large(size_t n) {
    char *text = malloc(n * 100 + 200);
    assert_non_null(text);
    char *end =
        stpcpy(text, "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"t\"},"
                     "\"spec\":{\"denyModify\":[\"deny/**\"");
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, ",\"d%zu/**\",\"!deny/%zu/**\"", i, i);
    end = stpcpy(end, "],\"fsProfiles\":{\"p\":{\"read\":[\"first\"");
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, ",\"r%zu/**\"", i);
    end = stpcpy(end, "],\"modify\":[\"first\"");
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, ",\"r%zu/a/b/*.c\"", i);
    (void)stpcpy(end, "]}}}}");
    return text;
}

static void ten_thousand_rules_and_denies_do_not_take_quadratic_time(void **state) {
    (void)state;
    char *text = large(10000);
    double start = spent_ms();
    struct loaded loaded = load_json(text);
    assert_true(spent_ms() - start < 1000);
    assert_int_equal(loaded.code, BS_OK);
    assert_int_equal(loaded.report.n_warnings, 0);
    unload(&loaded);
    free(text);
}

/* Return a policy with `n` exceptions inside a deny, and one exception that only a later deny
 * contains. */
static char *many_under_globs(size_t n, const char *deny, const char *exception, const char *last,
                              const char *later) {
    char *text = malloc(n * 40 + 400);
    assert_non_null(text);
    char *end = text + sprintf(text,
                               "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":"
                               "{\"name\":\"t\"},\"spec\":{\"denyModify\":"
                               "[\"a/b**c/**\",\"a/b**c\",\"%s\"",
                               deny);
    for (size_t i = 0; i < n; i++)
        end += sprintf(end, exception, i);
    (void)sprintf(end, ",\"%s\",\"%s\"]}}", last, later);
    return text;
}

/* A few exceptions are matched one by one, and many are matched together. Both ways must give the
 * same result. */
static void few_and_many_exceptions_under_globs_are_checked_alike(void **state) {
    (void)state;
    static const char *const kinds[][4] = {
        {"**/*.key", ",\"!certs/%zu.key\"", "!certs/key", "**/key"},
        {"**/k/**", ",\"!a/k/%zu/**\"", "!a/kk/b/**", "**/kk/**"},
        {"?", ",\"!a/b%zuc\"", "!.", "**/**"}};
    static const size_t counts[] = {0, 1, 2, 100, 1000, 10000};
    for (size_t i = 0; i < LENGTH(kinds) * LENGTH(counts); i++) {
        const char *const *kind = kinds[i % LENGTH(kinds)];
        size_t n = counts[i / LENGTH(kinds)];
        char *text = many_under_globs(n, kind[0], kind[1], kind[2], kind[3]);
        char pointer[64];
        (void)snprintf(pointer, sizeof pointer, "/spec/denyModify/%zu", n + 3);
        assert_one_problem_at(text, pointer);
        free(text);
    }
}

/* The globs exceed the budget of the matcher. If they were compiled again for each of the many
 * exceptions, the test would take minutes. */
static void too_many_globs_are_refused_after_one_attempt(void **state) {
    (void)state;
    enum { GLOBS = 1500, EXCEPTIONS = 3000, EACH = 120 };
    char *text = malloc((size_t)GLOBS * EACH + (size_t)EXCEPTIONS * 20 + 200);
    assert_non_null(text);
    char *end = stpcpy(text, "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":"
                             "\"t\"},\"spec\":{\"denyModify\":[\"b\"");
    for (size_t i = 0; i < GLOBS; i++)
        end += sprintf(end, ",\"a**%0100zu\"", i);
    for (size_t i = 0; i < EXCEPTIONS; i++)
        end += sprintf(end, ",\"!c/%zu\"", i);
    (void)stpcpy(end, "]}}");
    double start = spent_ms();
    struct loaded loaded = load_json(text);
    assert_true(spent_ms() - start < 1000);
    assert_int_equal(loaded.report.n_problems, EXCEPTIONS);
    assert_non_null(strstr(loaded.report.problems[0].message, "too many"));
    unload(&loaded);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modify_rules_need_a_read_rule),
        cmocka_unit_test(negated_rules_need_no_cover),
        cmocka_unit_test(a_rule_must_not_equal_a_deny_of_its_kind),
        cmocka_unit_test(exceptions_must_have_a_valid_form),
        cmocka_unit_test(an_exception_lies_inside_an_earlier_deny),
        cmocka_unit_test(a_deny_with_wildcards_may_contain_an_exception),
        cmocka_unit_test(few_and_many_exceptions_under_globs_are_checked_alike),
        cmocka_unit_test(too_many_globs_are_refused_after_one_attempt),
        cmocka_unit_test(ten_thousand_rules_and_denies_do_not_take_quadratic_time),
    };
    return cmocka_run_group_tests_name("policy/validate", tests, NULL, NULL);
}
