#define _GNU_SOURCE
#include "exec/environ.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "support/harness.h"

static void assert_entries(const struct bs_environ *environment, const char *const *entries) {
    size_t n = 0;
    for (; entries[n] != NULL; n++) {
        assert_non_null(environment->envp[n]);
        assert_string_equal(environment->envp[n], entries[n]);
    }
    assert_null(environment->envp[n]);
}

static void exactly_the_pairs_are_set_in_their_order(void **state) {
    (void)state;
    static const struct bs_env_pair env[] = {{"Z", "1"}, {"A", ""}, {"M", "a=b"}, {"a", "\xFF"}};
    struct bs_environ environment;
    assert_int_equal(bs_environ_build(&environment, BS_ENV_CLEAR_AND_SET, env, 4, NULL, 0), 0);
    assert_entries(&environment, (const char *[]){"Z=1", "A=", "M=a=b", "a=\xFF", NULL});
    bs_environ_clear(&environment);
}

static void no_pairs_make_an_empty_environment(void **state) {
    (void)state;
    struct bs_environ environment;
    assert_int_equal(bs_environ_build(&environment, BS_ENV_CLEAR_AND_SET, NULL, 0, NULL, 0), 0);
    assert_non_null(environment.envp);
    assert_null(environment.envp[0]);
    bs_environ_clear(&environment);
    bs_environ_clear(&environment);
    assert_null(environment.envp);
}

static void the_last_of_duplicates_wins_and_order_is_kept(void **state) {
    (void)state;
    static const struct bs_env_pair env[] = {{"A", "1"}, {"B", "1"},  {"A", "2"}, {"AB", "1"},
                                             {"C", "1"}, {"AB", "2"}, {"A", "3"}, {"a", "x"}};
    struct bs_environ environment;
    assert_int_equal(bs_environ_build(&environment, BS_ENV_CLEAR_AND_SET, env, 8, NULL, 0), 0);
    assert_entries(&environment, (const char *[]){"B=1", "C=1", "AB=2", "A=3", "a=x", NULL});
    bs_environ_clear(&environment);
}

static void a_thousand_duplicates_leave_one(void **state) {
    (void)state;
    struct bs_env_pair env[1000];
    for (size_t i = 0; i < LENGTH(env); i++)
        env[i] = (struct bs_env_pair){"SAME", i + 1 < LENGTH(env) ? "old" : "new"};
    struct bs_environ environment;
    assert_int_equal(
        bs_environ_build(&environment, BS_ENV_CLEAR_AND_SET, env, LENGTH(env), NULL, 0), 0);
    assert_entries(&environment, (const char *[]){"SAME=new", NULL});
    bs_environ_clear(&environment);
}

static void additions_of_a_sandbox_win(void **state) {
    (void)state;
    static const struct bs_env_pair env[] = {{"A", "request"}, {"B", "request"}};
    static const struct bs_env_pair more[] = {{"A", "sandbox"}, {"C", "first"}, {"C", "second"}};
    struct bs_environ environment;
    assert_int_equal(bs_environ_build(&environment, BS_ENV_CLEAR_AND_SET, env, 2, more, 3), 0);
    assert_entries(&environment, (const char *[]){"B=request", "A=sandbox", "C=second", NULL});
    bs_environ_clear(&environment);
}

static char *odd_environ[] = {(char[]){"X=1"}, (char[]){"no-equals"}, (char[]){"Y=1"},
                              (char[]){"=odd"}, NULL};

static void an_inherited_environment_is_the_callers_own(void **state) {
    (void)state;
    char **mine = environ;
    environ = odd_environ;
    static const struct bs_env_pair ignored[] = {{"A", "1"}};
    struct bs_environ environment;
    int os_error = bs_environ_build(&environment, BS_ENV_INHERIT, ignored, 1, NULL, 0);
    environ = mine;
    assert_int_equal(os_error, 0);
    assert_ptr_equal(environment.envp, odd_environ);
    bs_environ_clear(&environment);
    assert_string_equal(odd_environ[0], "X=1");
}

static void additions_come_on_top_of_an_inherited_environment(void **state) {
    (void)state;
    char **mine = environ;
    environ = odd_environ;
    static const struct bs_env_pair more[] = {{"X", "2"}};
    struct bs_environ environment;
    int os_error = bs_environ_build(&environment, BS_ENV_INHERIT, NULL, 0, more, 1);
    environ = mine;
    assert_int_equal(os_error, 0);
    assert_entries(&environment, (const char *[]){"no-equals", "Y=1", "=odd", "X=2", NULL});
    bs_environ_clear(&environment);
}

static void a_process_without_an_environment_can_be_added_to(void **state) {
    (void)state;
    char **mine = environ;
    environ = NULL;
    static const struct bs_env_pair more[] = {{"X", "2"}};
    struct bs_environ environment;
    int os_error = bs_environ_build(&environment, BS_ENV_INHERIT, NULL, 0, more, 1);
    environ = mine;
    assert_int_equal(os_error, 0);
    assert_entries(&environment, (const char *[]){"X=2", NULL});
    bs_environ_clear(&environment);
}

static void invalid_names_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"", "=", "=A", "A=", "A=B"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        struct bs_env_pair env[] = {{"GOOD", "1"}, {names[i], "1"}};
        struct bs_environ environment;
        assert_int_equal(bs_environ_build(&environment, BS_ENV_CLEAR_AND_SET, env, 2, NULL, 0),
                         EINVAL);
        assert_null(environment.envp);
        assert_null(environment.owned);
        assert_int_equal(bs_environ_build(&environment, BS_ENV_CLEAR_AND_SET, env, 1, env + 1, 1),
                         EINVAL);
        assert_int_equal(bs_environ_build(&environment, BS_ENV_INHERIT, NULL, 0, env + 1, 1),
                         EINVAL);
        bs_environ_clear(&environment);
    }
}

static void a_value_is_found_by_its_whole_name(void **state) {
    (void)state;
    char *envp[] = {(char[]){"PATHS=/no"},
                    (char[]){"PAT=/no"},
                    (char[]){"PATH=/a:/b"},
                    (char[]){"PATH=/later"},
                    (char[]){"EMPTY="},
                    (char[]){"BARE"},
                    NULL};
    assert_string_equal(bs_environ_get(envp, "PATH"), "/a:/b");
    assert_string_equal(bs_environ_get(envp, "EMPTY"), "");
    assert_null(bs_environ_get(envp, "BARE"));
    assert_null(bs_environ_get(envp, "PATH=/a"));
    assert_null(bs_environ_get(envp, "path"));
    assert_null(bs_environ_get(NULL, "PATH"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_the_pairs_are_set_in_their_order),
        cmocka_unit_test(no_pairs_make_an_empty_environment),
        cmocka_unit_test(the_last_of_duplicates_wins_and_order_is_kept),
        cmocka_unit_test(a_thousand_duplicates_leave_one),
        cmocka_unit_test(additions_of_a_sandbox_win),
        cmocka_unit_test(an_inherited_environment_is_the_callers_own),
        cmocka_unit_test(additions_come_on_top_of_an_inherited_environment),
        cmocka_unit_test(a_process_without_an_environment_can_be_added_to),
        cmocka_unit_test(invalid_names_are_refused),
        cmocka_unit_test(a_value_is_found_by_its_whole_name),
    };
    return cmocka_run_group_tests_name("exec/environ", tests, NULL, NULL);
}
