/* Makes each allocation of a compile, of a file and of a wrap fail once. */
#define _GNU_SOURCE

#include "sbpl/compiling.h"
#include "support/allocations.h"

static int compile_once(const void *context, struct bs_error *err) {
    struct bs_sbpl sbpl = BS_SBPL_INIT;
    int code = bs_sbpl_compile(context, &sbpl, err);
    assert_int_equal(code == BS_OK, sbpl.text.data != NULL);
    assert_int_equal(code == BS_OK, sbpl.unguarded != NULL);
    bs_sbpl_clear(&sbpl);
    return code;
}

static int wrap_once(const void *context, struct bs_error *err) {
    struct bs_sbpl_wrapped wrapped = BS_SBPL_WRAPPED_INIT;
    int code = bs_sbpl_wrap(context, &wrapped, err);
    assert_int_equal(code == BS_OK, wrapped.argv != NULL);
    bs_sbpl_wrapped_clear(&wrapped);
    return code;
}

static const char spec[] =
    PROFILE("'**','!k/l/**','!**/z'", "'a/**','b*c','!d?'") ",'denyRead':['\\u00e9/q'],'denyModify'"
                                                            ":['a/g/**','!a/g/o']";

static const char *const side_roots[] = {"/s", "/t//u"};

static struct bs_sbpl_input full(const struct bs_profile *profile) {
    return (struct bs_sbpl_input){.profile = profile,
                                  .root = "/w//x",
                                  .home = "/h",
                                  .codex_home = "/h/c",
                                  .claude_config_dir = "/h/d",
                                  .side_roots = side_roots,
                                  .n_side_roots = LENGTH(side_roots),
                                  .provider = BS_PROVIDER_CODEX};
}

static void compiling_a_profile(void **state) {
    (void)state;
    for (unsigned fold = 0; fold <= BS_FOLD; fold += BS_FOLD) {
        struct bs_profile *profile = profile_of(spec, NULL, "p", fold);
        struct bs_sbpl_input input = full(profile);
        each_allocation_fails(compile_once, &input, BS_OK, 15);
        bs_profile_free(profile);
    }
}

static void refusing_a_profile(void **state) {
    (void)state;
    struct bs_profile *profile = profile_of(spec, NULL, "p", BS_FOLD);
    struct bs_sbpl_input input = full(profile);
    input.root = "/s/w";
    each_allocation_fails(compile_once, &input, BS_E_INVALID, 10);
    input = full(profile);
    input.codex_home = "/";
    each_allocation_fails(compile_once, &input, BS_E_INVALID, 4);
    bs_profile_free(profile);
}

static void wrapping_a_command(void **state) {
    (void)state;
    static const char *const argv[] = {"codex", "-sx", "a", NULL};
    struct bs_sbpl_command command = {argv, "/f", BS_PROVIDER_CODEX, true, BS_WRAPPER_PRESENT};
    each_allocation_fails(wrap_once, &command, BS_OK, 2);
    command.wrapper = BS_WRAPPER_MISSING;
    each_allocation_fails(wrap_once, &command, BS_OK, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiling_a_profile),
        cmocka_unit_test(refusing_a_profile),
        cmocka_unit_test(wrapping_a_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
