/* Compiles profiles to text, and checks the text. */
#ifndef BS_TESTS_SBPL_COMPILING_H
#define BS_TESTS_SBPL_COMPILING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/sbpl.h>

#include "support/harness.h"
#include "support/profiles.h"

/* The members of a `spec` with the profile `p`. The arguments are JSON, with ' in place of ". */
#define PROFILE(read, modify) "'fsProfiles':{'p':{'read':[" read "],'modify':[" modify "]}}"

struct compiled {
    int code;
    struct bs_profile *profile;
    struct bs_sbpl sbpl;
    struct bs_error err;
};

static inline struct compiled compile(const char *spec, unsigned flags,
                                      struct bs_sbpl_input input) {
    struct compiled compiled = {.sbpl = BS_SBPL_INIT, .err = BS_ERROR_INIT};
    compiled.profile = profile_of(spec, NULL, "p", flags);
    input.profile = compiled.profile;
    compiled.code = bs_sbpl_compile(&input, &compiled.sbpl, &compiled.err);
    assert_int_equal(compiled.code == BS_OK, compiled.sbpl.text.data != NULL);
    if (compiled.sbpl.text.data != NULL)
        assert_int_equal(strlen(compiled.sbpl.text.data), compiled.sbpl.text.len);
    return compiled;
}

static inline void discard(struct compiled *compiled) {
    bs_sbpl_clear(&compiled->sbpl);
    bs_sbpl_clear(&compiled->sbpl);
    bs_profile_free(compiled->profile);
}

/* Compare the text after the clause that denies writing to the root. */
static inline void assert_rules(const char *spec, unsigned flags, struct bs_sbpl_input input,
                                const char *expected) {
    struct compiled compiled = compile(spec, flags, input);
    if (compiled.code != BS_OK)
        fail_msg("%s: %s", spec, compiled.err.message);
    const char *at = strstr(compiled.sbpl.text.data, "\n(deny file-write* (subpath ");
    assert_non_null(at);
    at = strchr(at + 1, '\n');
    assert_string_equal(at + 1, expected);
    discard(&compiled);
}

/* Check that the text has the lines of `expected` in a row. */
static inline void assert_has_lines(const char *spec, struct bs_sbpl_input input,
                                    const char *expected) {
    struct compiled compiled = compile(spec, 0, input);
    if (compiled.code != BS_OK)
        fail_msg("%s: %s", spec, compiled.err.message);
    if (strstr(compiled.sbpl.text.data, expected) == NULL)
        fail_msg("no\n%sin\n%s", expected, compiled.sbpl.text.data);
    discard(&compiled);
}

/* Check that the compilation fails with a message that contains `words`, and that it returns no
 * text. */
static inline void assert_refused(const char *spec, unsigned flags, struct bs_sbpl_input input,
                                  const char *words) {
    struct compiled compiled = compile(spec, flags, input);
    if (compiled.code != BS_E_INVALID || strstr(compiled.err.message, words) == NULL)
        fail_msg("%d, `%s` does not say `%s`", compiled.code, compiled.err.message, words);
    if (strchr(compiled.err.message, '\n') != NULL)
        fail_msg("`%s` is more than a line", compiled.err.message);
    discard(&compiled);
}

#define AT(path)                                                                                   \
    (struct bs_sbpl_input) { .root = (path) }

#endif
