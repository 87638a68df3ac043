#include "sbpl/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

enum { MOST_WORDS = 24 };

struct row {
    const char *before; /* arguments after the program, separated by blanks */
    const char *after;
};

/* Split the text into words, in a block of exactly its size, so that a sanitizer notices a read
 * past the end. */
static size_t split(char *text, const char **words) {
    size_t n = 0;
    for (char *at = strtok(text, " "); at != NULL; at = strtok(NULL, " ")) /* NOLINT */
        words[n++] = at;
    return n;
}

static void assert_becomes(enum bs_provider provider, const struct row *row) {
    /* the name of the program is not examined, even if it looks like a flag */
    const char *words[MOST_WORDS] = {"-s"};
    char before[256];
    char after[512] = "";
    (void)snprintf(before, sizeof before, "%s", row->before);
    size_t n = 1 + split(before, words + 1);
    const char **out = calloc(n + BS_FLAGS_MORE, sizeof *out);
    assert_non_null(out);
    size_t n_out = bs_flags_neutralize(provider, words, n, out);
    assert_in_range(n_out, 1, n + BS_FLAGS_MORE);
    assert_string_equal(out[0], "-s");
    size_t used = 0;
    for (size_t i = 1; i < n_out; i++)
        used += (size_t)snprintf(after + used, sizeof after - used, i > 1 ? " %s" : "%s", out[i]);
    if (strcmp(after, row->after) != 0)
        fail_msg("`%s` became `%s`", row->before, after);
    free((void *)out);
}

#define FULL "--sandbox danger-full-access"

static void codex_has_one_mode(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"", FULL},
        {"hi", FULL " hi"},
        {"exec hi", "exec " FULL " hi"},
        {"e", "e " FULL},
        {"hi exec", FULL " hi exec"},
        {"execute", FULL " execute"},
        {"--sandbox read-only hi", FULL " hi"},
        {"hi --sandbox=read-only you", "hi " FULL " you"},
        {"exec hi -s workspace-write", "exec hi " FULL},
        {"-s=x", FULL},
        {"-sx", FULL},
        {"a -sx b --sandbox y c -s z d", "a " FULL " b c d"},
        {"--full-auto a", FULL " a"},
        {"exec --full-auto -s x", "exec " FULL},
        {"-c sandbox_mode=x a", FULL " a"},
        {"--config sandbox_mode=\"x\" a", FULL " a"},
        {"--config=sandbox_mode=x a", FULL " a"},
        {"-c sandbox_mode=x exec a", FULL " exec a"},
        {"-c model=x -c sandbox_mode=y --config a=b", FULL " -c model=x --config a=b"},
        {"a -c", FULL " a -c"},
        {"-c sandbox_modes=x", FULL " -c sandbox_modes=x"},
        {"--config=sandbox_mode", FULL " --config=sandbox_mode"},
        {"--sandboxed --full-autos --search", FULL " --sandboxed --full-autos --search"},
        {"-s", FULL},
        {"-s --model x", FULL " --model x"},
        {"--sandbox -- -s x", FULL " -- -s x"},
        {"-- -s x --full-auto -c sandbox_mode=x", FULL " -- -s x --full-auto -c sandbox_mode=x"},
        {"a -c -- sandbox_mode=x", FULL " a -c -- sandbox_mode=x"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_becomes(BS_PROVIDER_CODEX, &rows[i]);
}

static void gemini_loses_its_own_sandbox_flags(void **state) {
    (void)state;
    static const struct row rows[] = {
        {"", ""},
        {"-s -p hi", "-p hi"},
        {"-p hi --sandbox", "-p hi"},
        {"-s=docker a --sandbox=false b", "a b"},
        {"-s docker a", "a"},
        {"--sandbox true --sandbox false -s podman -s sandbox-exec a", "a"},
        {"--sandbox hello true", "hello true"},
        {"-s -s docker docker", "docker"},
        {"-sx --sandboxes --sandbox-image x", "-sx --sandboxes --sandbox-image x"},
        {"-s -- docker -s", "-- docker -s"},
        {"-- -s --sandbox", "-- -s --sandbox"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_becomes(BS_PROVIDER_GEMINI, &rows[i]);
}

static void other_providers_keep_every_argument(void **state) {
    (void)state;
    static const char words[] = "--sandbox x -s y --full-auto -c sandbox_mode=z -- -s";
    static const struct row row = {words, words};
    assert_becomes(BS_PROVIDER_CLAUDE, &row);
    assert_becomes(BS_PROVIDER_NONE, &row);
}

static void providers_have_names(void **state) {
    (void)state;
    enum bs_provider provider = BS_PROVIDER_NONE;
    assert_false(bs_sbpl_provider("", &provider));
    assert_false(bs_sbpl_provider("Codex", &provider));
    assert_int_equal(provider, BS_PROVIDER_NONE);
    assert_true(bs_sbpl_provider("codex", &provider));
    assert_int_equal(provider, BS_PROVIDER_CODEX);
    assert_true(bs_sbpl_provider("claude", &provider));
    assert_int_equal(provider, BS_PROVIDER_CLAUDE);
    assert_true(bs_sbpl_provider("gemini", &provider));
    assert_int_equal(provider, BS_PROVIDER_GEMINI);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codex_has_one_mode),
        cmocka_unit_test(gemini_loses_its_own_sandbox_flags),
        cmocka_unit_test(other_providers_keep_every_argument),
        cmocka_unit_test(providers_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
