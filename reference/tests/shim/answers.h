/* Sends requests to the shim in run mode or in serve mode, and checks the answers. *state is a
 * struct bs_policies. */
#ifndef BS_TESTS_SHIM_ANSWERS_H
#define BS_TESTS_SHIM_ANSWERS_H

#include <stdlib.h>
#include <string.h>

#include "shim/ops.h"
#include "shim/policies.h"
#include "support/harness.h"

static inline int converse(void **state) {
    *state = calloc(1, sizeof(struct bs_policies));
    return *state != NULL ? 0 : -1;
}

static inline int fall_silent(void **state) {
    bs_policies_clear(*state);
    bs_policies_clear(*state);
    free(*state);
    return 0;
}

/* Return the answer to a request. The request is written with ' in place of ". The caller frees the
 * answer. */
static inline char *answer_to(struct bs_policies *policies, const char *words) {
    char *request = strdup(words);
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    assert_non_null(request);
    for (char *at = request; (at = strchr(at, '\'')) != NULL;)
        *at = '"';
    (void)bs_dispatch(request, strlen(request), BS_MODE_SERVE, policies, &out);
    free(request);
    assert_false(out.text.failed);
    bs_buf_char(&out.text, '\0');
    return out.text.data;
}

static inline void assert_answer(void **state, const char *request, const char *expected) {
    char *wanted = strdup(expected);
    char *answer = answer_to(*state, request);
    assert_non_null(wanted);
    for (char *at = wanted; (at = strchr(at, '\'')) != NULL;)
        *at = '"';
    assert_string_equal(answer, wanted);
    free(answer);
    free(wanted);
}

/* Check that the answer contains all of these texts. */
static inline void assert_has(void **state, const char *request, const char *const *words) {
    char *answer = answer_to(*state, request);
    for (; *words != NULL; words++) {
        char *wanted = strdup(*words);
        assert_non_null(wanted);
        for (char *at = wanted; (at = strchr(at, '\'')) != NULL;)
            *at = '"';
        if (strstr(answer, wanted) == NULL)
            fail_msg("no %s in %s", wanted, answer);
        free(wanted);
    }
    free(answer);
}

#define HAS(request, ...) assert_has(state, request, (const char *[]){__VA_ARGS__, NULL})

#define conversing(test) cmocka_unit_test_setup_teardown(test, converse, fall_silent)

#endif
