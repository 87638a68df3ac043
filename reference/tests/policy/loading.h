/* Loads policies from text, and shows the result as one line for each problem. */
#ifndef BS_TESTS_POLICY_LOADING_H
#define BS_TESTS_POLICY_LOADING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/policy.h>

#include "policy/model.h"
#include "support/harness.h"
#include "support/spent.h"

struct loaded {
    int code;
    struct bs_policy *policy;
    struct bs_policy_report report;
    struct bs_error err;
};

/* Copy a text into a block of exactly its size, so that a sanitizer notices a read past the end. */
static inline char *exact_copy(const char *text, size_t len) {
    char *copy = malloc(len > 0 ? len : 1);
    assert_non_null(copy);
    if (len > 0)
        memcpy(copy, text, len);
    return copy;
}

static inline struct loaded load_bytes(enum bs_policy_format format, const char *text, size_t len) {
    struct loaded loaded = {.report = BS_POLICY_REPORT_INIT, .err = BS_ERROR_INIT};
    char *copy = exact_copy(text, len);
    struct bs_policy_text global = {copy, len, format};
    loaded.code = bs_policy_load(&global, NULL, &loaded.policy, &loaded.report, &loaded.err);
    free(copy);
    assert_int_equal(loaded.code == BS_OK, loaded.policy != NULL);
    assert_int_equal(loaded.code == BS_E_INVALID, loaded.report.n_problems > 0);
    return loaded;
}

static inline struct loaded load_json(const char *text) {
    return load_bytes(BS_POLICY_JSON, text, strlen(text));
}

static inline struct loaded load_yaml(const char *text) {
    return load_bytes(BS_POLICY_YAML, text, strlen(text));
}

/* Load two policies in JSON. */
static inline struct loaded load_both(const char *global, const char *workspace) {
    struct loaded loaded = {.report = BS_POLICY_REPORT_INIT, .err = BS_ERROR_INIT};
    struct bs_policy_text texts[] = {{global, strlen(global), BS_POLICY_JSON},
                                     {workspace, strlen(workspace), BS_POLICY_JSON}};
    loaded.code = bs_policy_load(&texts[0], &texts[1], &loaded.policy, &loaded.report, &loaded.err);
    return loaded;
}

/* A policy with these members of `spec`, on one line. */
#define SPEC(members)                                                                              \
    "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"t\"},\"spec\":{" members "}}"

static inline void unload(struct loaded *loaded) {
    bs_policy_free(loaded->policy);
    bs_policy_report_clear(&loaded->report);
    bs_policy_report_clear(&loaded->report);
}

static inline void assert_loads(struct loaded loaded) {
    if (loaded.code != BS_OK)
        fail_msg("%s", loaded.err.message);
    unload(&loaded);
}

static inline void list_one(char *out, size_t size, const struct bs_policy_problem *problem) {
    size_t used = strlen(out);
    (void)snprintf(out + used, size - used, "%s%u:%u %s%s%s\n",
                   problem->source == BS_FROM_WORKSPACE ? "workspace " : "", problem->line,
                   problem->column, problem->pointer, problem->code != NULL ? " " : "",
                   problem->code != NULL ? problem->code : "");
}

/* Check the problems. `expected` has a line "LINE:COLUMN POINTER" for each problem. A problem of
 * the workspace has the word "workspace" in front. */
static inline void assert_problems(struct loaded loaded, const char *expected) {
    char listed[8192] = "";
    for (size_t i = 0; i < loaded.report.n_problems; i++)
        list_one(listed, sizeof listed, &loaded.report.problems[i]);
    assert_string_equal(listed, expected);
    unload(&loaded);
}

/* As assert_problems, for warnings. Each line of `expected` has the code at its end. */
static inline void assert_warnings(struct loaded loaded, const char *expected) {
    if (loaded.code != BS_OK)
        fail_msg("%s", loaded.err.message);
    char listed[8192] = "";
    for (size_t i = 0; i < loaded.report.n_warnings; i++)
        list_one(listed, sizeof listed, &loaded.report.warnings[i]);
    assert_string_equal(listed, expected);
    unload(&loaded);
}

static inline void assert_says(struct loaded loaded, const char *words) {
    assert_int_equal(loaded.code, BS_E_INVALID);
    if (strstr(loaded.report.problems[0].message, words) == NULL)
        fail_msg("`%s` does not say `%s`", loaded.report.problems[0].message, words);
    unload(&loaded);
}

#endif
