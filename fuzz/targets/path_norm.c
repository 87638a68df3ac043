/* Arbitrary bytes as a path. Its normal form or its refusal is checked. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/path.h>

#include "policy/path/path.h"
#include "support/case.h"
#include "support/fail.h"
#include "support/lie.h"
#include "support/path_model.h"
#include "support/provider.h"
#include "support/steps.h"

const char bs_fuzz_target[] = "path_norm";

enum {
    LONGEST = 65536,
    /* limits in basic blocks, four times the maximum over the corpus */
    STEPS_BASE = 400,
    STEPS_BYTE = 60,
};

struct answer {
    int code;
    const char *normal;
    size_t len;
    struct bs_error err;
};

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    const char *path = (const char *)data;
    bs_fuzz_case_open(c, "path.normalize");
    bs_fuzz_case_texts_open(c, "paths", bs_fuzz_is_text(path, size));
    bs_fuzz_case_item(c, path, size);
    bs_fuzz_case_texts_close(c);
    bs_fuzz_case_close(c);
}

static struct answer normalize(const char *path, size_t len, char *buffer) {
    struct answer answer = {0, NULL, 0, BS_ERROR_INIT};
    answer.code = bs_path_normalize(path, len, buffer, &answer.normal, &answer.len, &answer.err);
    return answer;
}

static void judge_refusal(const struct answer *answer) {
    bool owed = answer->code == BS_E_INVALID && answer->err.code == answer->code &&
                answer->err.message[0] != '\0' && answer->normal == NULL && answer->len == 0;
    if (owed == bs_fuzz_lie("error"))
        bs_fuzz_fail("error", "the refusal has code %d, error %d `%.60s`, or touched the outputs",
                     answer->code, answer->err.code, answer->err.message);
}

/* Return the reason why a path must not be opened below a root, or NULL. */
static const char *bad_form(const char *path, size_t len) {
    if (len == 0 || path[0] == '/' || path[len - 1] == '/')
        return "is empty, or begins or ends with a separator";
    if (len == 1 && path[0] == '.')
        return NULL;
    for (size_t start = 0, i = 0; i <= len; i++) {
        if (i < len && path[i] != '/')
            continue;
        size_t size = i - start;
        if (size == 0 || (size <= 2 && memcmp(path + start, "..", size) == 0))
            return "has an empty segment, a `.` or a `..`";
        start = i + 1;
    }
    return NULL;
}

static void judge_form(const char *path, size_t len) {
    const char *why = bs_fuzz_lie("form") ? "is said to be another" : bad_form(path, len);
    if (why != NULL)
        bs_fuzz_fail("form", "the normal form `%.*s` %s", (int)len, path, why);
}

/* Check the two fast scans for paths in normal form. A scan may miss such a path, because slower
 * code then decides, but it must never accept a path in another form. */
static void judge_scans(const char *path, size_t len, bool is_normal) {
    bool wide = bs_path_is_plain(path, len);
    bool portable = bs_path_is_plain_portable(path, len);
    bool taken = (wide || portable) != (bs_fuzz_lie("scan") && !is_normal);
    if (taken && !is_normal)
        bs_fuzz_fail("scan", "it is not in normal form, and a scan says so (%d, portable %d)", wide,
                     portable);
}

static void judge_again(const char *path, const struct answer *first) {
    char *normal = bs_fuzz_block(first->normal, first->len);
    char *buffer = malloc(first->len + 1);
    if (buffer == NULL)
        abort();
    struct answer again = normalize(normal, first->len, buffer);
    bool same = again.code == BS_OK && again.normal == normal && again.len == first->len;
    if (same == bs_fuzz_lie("idempotent"))
        bs_fuzz_fail("idempotent", "the normal form of %zu bytes of `%.40s` is not its own",
                     first->len, path);
    free(buffer);
    free(normal);
}

static void judge_in_place(const char *path, size_t len, const struct answer *first) {
    char *both = malloc(len + 1);
    if (both == NULL)
        abort();
    memcpy(both, path, len);
    struct answer again = normalize(both, len, both);
    bool same = again.code == BS_OK && again.len == first->len &&
                memcmp(again.normal, first->normal, first->len) == 0;
    if (same == bs_fuzz_lie("in-place"))
        bs_fuzz_fail("in-place", "with its own bytes as the buffer the path is another, code %d",
                     again.code);
    free(both);
}

static void check_answer(const char *path, size_t len, const struct answer *answer,
                         const char *expected, size_t expected_len) {
    bool is_normal = len == expected_len && memcmp(path, expected, len) == 0;
    bool same = answer->len == expected_len &&
                memcmp(answer->normal, expected, expected_len) == 0 &&
                (answer->normal == path) == is_normal;
    if (same == bs_fuzz_lie("model"))
        bs_fuzz_fail("model", "the normal form is `%.*s`, and should be `%.*s`", (int)answer->len,
                     answer->normal, (int)expected_len, expected);
    judge_form(answer->normal, answer->len);
    judge_scans(path, len, is_normal);
    judge_again(path, answer);
    judge_in_place(path, len, answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char expected[LONGEST + 1];
    bs_fuzz_begin(data, size);
    if (size > LONGEST)
        return 0;
    size_t expected_len = 0;
    const char *why = bs_model_path((const char *)data, size, expected, &expected_len);
    char *path = bs_fuzz_block(data, size);
    char *buffer = malloc(size + 1);
    if (buffer == NULL)
        abort();
    bs_fuzz_steps_start();
    struct answer answer = normalize(path, size, buffer);
    uint64_t took = bs_fuzz_steps_taken();
    uint64_t budget = STEPS_BASE + STEPS_BYTE * (uint64_t)size;
    if (took > budget || bs_fuzz_lie("steps"))
        bs_fuzz_fail("steps", "it took %" PRIu64 " steps, the budget is %" PRIu64, took, budget);
    if (((answer.code == BS_OK) != bs_fuzz_lie("refusal")) != (why == NULL))
        bs_fuzz_fail("refusal", "the code is %d, and the path is %s", answer.code,
                     why != NULL ? why : "in order");
    if (answer.code == BS_OK)
        check_answer(path, size, &answer, expected, expected_len);
    else
        judge_refusal(&answer);
    if (answer.code != BS_OK)
        judge_scans(path, size, false);
    free(buffer);
    free(path);
    return 0;
}
