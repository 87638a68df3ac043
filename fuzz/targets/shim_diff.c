/* Another implementation, through its shim, against the reference: the same requests to both, in
 * one batch an input. */
#include <stdlib.h>

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

static enum bs_fuzz_trouble ask(const struct bs_fuzz_shim_requests *requests, size_t from, size_t n,
                                struct bs_fuzz_lines *answers) {
    struct bs_buf lines = BS_BUF_INIT;
    for (size_t i = from; i < from + n; i++)
        bs_fuzz_shim_request_put(&lines, &requests->items[i], i);
    enum bs_fuzz_trouble trouble = bs_fuzz_shim_ask(&lines, n, answers);
    bs_buf_clear(&lines);
    return trouble;
}

static bool is_trouble(const struct bs_fuzz_shim_requests *requests, size_t from, size_t n) {
    struct bs_fuzz_lines answers;
    bool trouble = ask(requests, from, n, &answers) != BS_SHIM_WELL;
    bs_fuzz_lines_clear(&answers);
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

static void compare(const struct bs_fuzz_shim_requests *requests, size_t number, const char *theirs,
                    size_t their_len, struct bs_policies *policies, struct bs_fuzz_pool *pool) {
    struct bs_buf line = BS_BUF_INIT;
    struct bs_buf ours = BS_BUF_INIT;
    struct bs_fuzz_json our_json;
    struct bs_fuzz_json their_json;
    const char *where = NULL;
    bs_fuzz_shim_request_put(&line, &requests->items[number], number);
    (void)bs_dispatch(line.data, line.len - 1, BS_DOOR_SERVE, policies, &ours);
    bs_fuzz_json_read(ours.data, ours.len, true, pool, &our_json);
    bs_fuzz_json_read(theirs, their_len, true, pool, &their_json);
    if (our_json.root == NULL || bs_fuzz_answers_differ(our_json.root, their_json.root, &where) ||
        bs_fuzz_lie("differs")) {
        shown = number;
        bs_fuzz_shim_stop();
        bs_fuzz_fail("differs", "in `%s` of %s: %.*s, and the reference: %.*s",
                     where != NULL ? where : "JSON", requests->items[number].op, (int)their_len,
                     theirs, (int)ours.len - 1, ours.data);
    }
    bs_buf_clear(&line);
    bs_buf_clear(&ours);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_fuzz_shim_requests requests;
    struct bs_policies policies = {.policy = NULL};
    struct bs_fuzz_lines answers;
    bs_fuzz_begin(data, size);
    bs_fuzz_shim_requests_read(&requests, data, size);
    size_t n = requests.end - requests.from;
    enum bs_fuzz_trouble trouble = ask(&requests, requests.from, n, &answers);
    /* A busy machine can make any shim late: once is no finding. */
    if (trouble == BS_SHIM_HUNG) {
        bs_fuzz_lines_clear(&answers);
        trouble = ask(&requests, requests.from, n, &answers);
    }
    if (trouble != BS_SHIM_WELL)
        report_trouble(&requests, trouble, answers.n);
    for (size_t i = 0; i < n; i++)
        compare(&requests, requests.from + i, answers.lines[i], answers.lens[i], &policies,
                &requests.pool);
    bs_policies_clear(&policies);
    bs_fuzz_lines_clear(&answers);
    bs_fuzz_pool_clear(&requests.pool);
    return 0;
}
