/* Another implementation, through its shim, against the reference: the same requests to both, in
 * one batch an input. */
#include <stdlib.h>
#include <string.h>

#include "policy/tiers.h"
#include "shim/ops.h"
#include "shim/policies.h"
#include "support/answer_diff.h"
#include "support/case.h"
#include "support/fail.h"
#include "support/json_oracle.h"
#include "support/lie.h"
#include "support/shim_gen.h"
#include "support/shim_process.h"

const char bs_fuzz_target[] = "shim_diff";

int __wrap_bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                              struct bs_matcher **out, struct bs_error *err);

/* Profiles of the reference in this process (the linker puts this in; fuzz/CMakeLists.txt) are
 * automata: the tables of a profile that is asked a few times took most of the time, and other
 * targets judge them. Where the shim is the reference's, its tables are compared with these. */
int __wrap_bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                              struct bs_matcher **out, struct bs_error *err) {
    return bs_matcher_compile_from(BS_TIER_RULES, patterns, n, fold, out, err);
}

/* Which request the failure is about, once that is known; people want to see that one alone. */
static size_t shown = SIZE_MAX;

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    struct bs_fuzz_shim_requests requests = {.pool = BS_FUZZ_POOL_INIT};
    bs_fuzz_shim_requests_read(&requests, data, size);
    for (size_t i = requests.from; i < requests.end; i++) {
        const struct bs_fuzz_shim_request *request = &requests.items[i];
        if (shown != SIZE_MAX && i != shown)
            continue;
        bs_fuzz_case_open(c, request->op);
        for (size_t m = 0; m < request->n_members; m++)
            bs_fuzz_case_json(c, request->members[m].name, request->members[m].json,
                              request->members[m].len);
        bs_fuzz_case_close(c);
    }
    bs_fuzz_pool_free(&requests.pool);
}

/* The lines of a batch, one behind the other; starts[i] is where line i begins. */
struct batch {
    struct bs_buf lines;
    size_t starts[BS_SHIM_MOST_REQUESTS + 1];
    size_t n;
};

static void put(struct batch *batch, const struct bs_fuzz_shim_requests *requests, size_t from,
                size_t n) {
    *batch = (struct batch){.lines = BS_BUF_INIT, .n = n};
    for (size_t i = 0; i < n; i++) {
        bs_fuzz_shim_request_put(&batch->lines, &requests->items[from + i], from + i);
        batch->starts[i + 1] = batch->lines.len;
    }
}

static bool is_trouble(const struct bs_fuzz_shim_requests *requests, size_t from, size_t n) {
    struct batch batch;
    struct bs_fuzz_lines answers;
    put(&batch, requests, from, n);
    bool trouble = bs_fuzz_shim_ask(&batch.lines, n, &answers) != BS_SHIM_WELL;
    bs_fuzz_lines_clear(&answers);
    bs_buf_clear(&batch.lines);
    return trouble;
}

/* The first request without an answer is suspected; else the batch is halved as long as one half
 * alone brings the trouble back. */
static _Noreturn void report_trouble(const struct bs_fuzz_shim_requests *requests,
                                     enum bs_fuzz_trouble trouble, size_t answered) {
    size_t from = requests->from;
    size_t n = requests->end - from;
    if (answered < n && is_trouble(requests, from + answered, 1)) {
        from += answered;
        n = 1;
    }
    while (n > 1) {
        size_t half = n / 2;
        if (is_trouble(requests, from, half)) {
            n = half;
        } else if (is_trouble(requests, from + half, n - half)) {
            from += half;
            n -= half;
        } else {
            break;
        }
    }
    if (n == 1)
        shown = from;
    bs_fuzz_shim_stop();
    bs_fuzz_fail(bs_fuzz_trouble_name(trouble), "%s%s",
                 n == 1 ? "by this request alone" : "by these requests together, of op ",
                 n == 1 ? "" : requests->items[from].op);
}

/* An answer of the very same bytes need not be read to be the same. */
static bool differ(const struct bs_buf *ours, const char *theirs, size_t their_len,
                   struct bs_fuzz_pool *pool, const char **where) {
    struct bs_fuzz_json our_json;
    struct bs_fuzz_json their_json;
    bs_fuzz_json_read(ours->data, ours->len, true, pool, &our_json);
    if (our_json.root == NULL)
        return true;
    if (their_len + 1 == ours->len && memcmp(theirs, ours->data, their_len) == 0)
        return false;
    bs_fuzz_json_read(theirs, their_len, true, pool, &their_json);
    return bs_fuzz_answers_differ(our_json.root, their_json.root, where);
}

static void compare(struct bs_fuzz_shim_requests *requests, const struct batch *batch, size_t i,
                    const struct bs_fuzz_lines *answers, struct bs_policies *policies) {
    struct bs_buf ours = BS_BUF_INIT;
    const char *where = NULL;
    const char *line = batch->lines.data + batch->starts[i];
    size_t len = batch->starts[i + 1] - batch->starts[i];
    (void)bs_dispatch(line, len - 1, BS_DOOR_SERVE, policies, &ours);
    if (differ(&ours, answers->lines[i], answers->lens[i], &requests->pool, &where) ||
        bs_fuzz_lie("differs")) {
        shown = requests->from + i;
        bs_fuzz_shim_stop();
        bs_fuzz_fail("differs", "in `%s` of %s: %.*s, and the reference: %.*s",
                     where != NULL ? where : "JSON", requests->items[shown].op,
                     (int)answers->lens[i], answers->lines[i], (int)ours.len - 1, ours.data);
    }
    bs_buf_clear(&ours);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_fuzz_shim_requests requests;
    struct bs_policies policies = {.policy = NULL};
    struct bs_fuzz_lines answers;
    struct batch batch;
    bs_fuzz_begin(data, size);
    bs_fuzz_shim_requests_read(&requests, data, size);
    put(&batch, &requests, requests.from, requests.end - requests.from);
    enum bs_fuzz_trouble trouble = bs_fuzz_shim_ask(&batch.lines, batch.n, &answers);
    /* A busy machine can make any shim late: once is no finding. */
    if (trouble == BS_SHIM_HUNG) {
        bs_fuzz_lines_clear(&answers);
        trouble = bs_fuzz_shim_ask(&batch.lines, batch.n, &answers);
    }
    if (trouble != BS_SHIM_WELL)
        report_trouble(&requests, trouble, answers.n);
    for (size_t i = 0; i < batch.n; i++)
        compare(&requests, &batch, i, &answers, &policies);
    bs_policies_clear(&policies);
    bs_fuzz_lines_clear(&answers);
    bs_buf_clear(&batch.lines);
    bs_fuzz_pool_clear(&requests.pool);
    return 0;
}
