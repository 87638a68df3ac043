/* Arbitrary bytes as a line of the shim protocol. Each line must be refused or answered, and a
 * request to run a program must be decoded completely or refused. No program is started. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "shim/exec_request.h"
#include "shim/ops.h"
#include "shim/policies.h"
#include "support/case.h"
#include "support/fail.h"
#include "support/json_oracle.h"
#include "support/lie.h"
#include "support/problems.h"
#include "support/provider.h"
#include "support/request_oracle.h"

const char bs_fuzz_target[] = "exec_frame";

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    bs_fuzz_case_open(c, "exec.run");
    bs_fuzz_case_text(c, "line", (const char *)data, size);
    bs_fuzz_case_close(c);
}

static bool is_same(struct bs_fuzz_bytes expected, const char *text) {
    if (expected.data == NULL || text == NULL)
        return expected.data == NULL && text == NULL;
    return strlen(text) == expected.len && memcmp(text, expected.data, expected.len) == 0;
}

static uint64_t given(const uint64_t *limit) { return limit != NULL ? *limit : UINT64_MAX; }

static const char *difference(const struct bs_exec_request *request,
                              const struct bs_fuzz_request *expected) {
    if (!is_same(expected->program, request->program))
        return "program";
    if (!is_same(expected->current_dir, request->current_dir))
        return "current_dir";
    if (given(request->timeout_ms) != expected->timeout_ms)
        return "timeout_ms";
    if (given(request->max_output_bytes) != expected->max_output_bytes)
        return "max_output_bytes";
    if (request->debug != expected->debug)
        return "debug";
    if ((request->stdin_failure == BS_STDIN_FAILURE_IGNORE) != expected->ignores_stdin_failure)
        return "stdin_failure";
    enum bs_stdin_mode mode = expected->no_stdin                   ? BS_STDIN_NULL
                              : expected->stdin_bytes.data != NULL ? BS_STDIN_BYTES
                                                                   : BS_STDIN_INHERIT;
    if (request->stdin_mode != mode ||
        (mode == BS_STDIN_BYTES &&
         (request->stdin_len != expected->stdin_bytes.len ||
          memcmp(request->stdin_data, expected->stdin_bytes.data, request->stdin_len) != 0)))
        return "stdin";
    if (request->n_args != expected->n_args)
        return "args";
    for (size_t i = 0; i < request->n_args; i++) {
        if (!is_same(expected->args[i], request->args[i]))
            return "args";
    }
    if ((request->env_mode == BS_ENV_CLEAR_AND_SET) != expected->sets_env ||
        request->n_env != expected->n_env)
        return "env";
    for (size_t i = 0; i < request->n_env; i++) {
        if (!is_same(expected->env[2 * i], request->env[i].name) ||
            !is_same(expected->env[2 * i + 1], request->env[i].value))
            return "env";
    }
    return NULL;
}

static void check_request(const cJSON *object, const struct bs_fuzz_node *node,
                          struct bs_fuzz_pool *pool) {
    struct bs_fuzz_request expected;
    struct bs_decoder decoder = {0};
    struct bs_exec_request request;
    bs_fuzz_request_read(node, pool, &expected);
    bs_decode_request(&decoder, object, "/request", &request);
    bool refused = bs_decoder_failed(&decoder);
    if (((refused != expected.refused) && !expected.doubtful) || bs_fuzz_lie("refusal"))
        bs_fuzz_fail("refusal", "%s, and should not be: %s", refused ? "refused" : "decoded",
                     refused ? decoder.problems.data : "");
    if (refused) {
        bs_fuzz_check_problems(&decoder, "/request", pool);
    } else if (expected.has_nul) {
        if (decoder.nul_in[0] == '\0' || bs_fuzz_lie("nul"))
            bs_fuzz_fail("nul", "a NUL in a string of the system is not noticed");
    } else if (!expected.doubtful) {
        const char *differs = difference(&request, &expected);
        if (differs != NULL || bs_fuzz_lie("value"))
            bs_fuzz_fail("value", "`%s` is decoded as something else", differs);
    }
    bs_decoder_clear(&decoder);
}

/* Check that the answer is one object in one line, with the id of the request and one of the three
 * outcomes. */
static void check_answer(const struct bs_buf *out, const struct bs_fuzz_node *request,
                         struct bs_fuzz_pool *pool) {
    static const char *const outcomes[] = {"result", "unsupported", "error"};
    struct bs_fuzz_json json;
    bs_fuzz_json_read(out->data, out->len, true, pool, &json);
    const struct bs_fuzz_node *sent = request != NULL ? bs_fuzz_field(request, "id") : NULL;
    const struct bs_fuzz_node *id = bs_fuzz_field(json.root, "id");
    size_t n = 0;
    for (size_t i = 0; i < 3; i++)
        n += bs_fuzz_field(json.root, outcomes[i]) != NULL;
    bool same = sent == NULL || sent->kind != BS_FUZZ_STRING
                    ? id != NULL && id->kind == BS_FUZZ_NULL
                    : id != NULL && id->kind == BS_FUZZ_STRING && id->len == sent->len &&
                          memcmp(id->text, sent->text, id->len) == 0;
    bool line = out->len > 0 && memchr(out->data, '\n', out->len) == out->data + out->len - 1;
    if (!line || n != 1 || !same || bs_fuzz_lie("answer"))
        bs_fuzz_fail("answer", "answered by %.*s", (int)out->len, out->data);
}

static void dispatch(const char *text, size_t len, const struct bs_fuzz_node *request,
                     struct bs_fuzz_pool *pool) {
    struct bs_policies policies = {.policy = NULL};
    struct bs_json_writer out = BS_JSON_WRITER_INIT;
    struct bs_done done = bs_dispatch(text, len, BS_MODE_SERVE, &policies, &out);
    check_answer(&out.text, request, pool);
    free(done.hold);
    bs_json_writer_clear(&out);
    bs_policies_clear(&policies);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_fuzz_pool pool;
    struct bs_fuzz_json json;
    struct bs_json_error err;
    bs_fuzz_begin(data, size);
    char *block = bs_fuzz_block(data, size);
    bs_fuzz_json_read(block, size, true, &pool, &json);
    bool repeats = json.root != NULL && bs_fuzz_has_repeated(json.root);
    const struct bs_fuzz_node *root = repeats ? NULL : json.root;
    cJSON *tree = bs_json_parse(block, size, &err);
    if ((tree != NULL) != (root != NULL) || bs_fuzz_lie("json"))
        bs_fuzz_fail("json", "%s", tree != NULL ? "accepted as JSON" : err.message);
    dispatch(block, size, root, &pool);
    if (tree != NULL) {
        const cJSON *inner = cJSON_GetObjectItemCaseSensitive(tree, "request");
        const struct bs_fuzz_node *node = bs_fuzz_field(root, "request");
        check_request(inner != NULL ? inner : tree, node != NULL ? node : root, &pool);
    }
    cJSON_Delete(tree);
    free(block);
    bs_fuzz_pool_clear(&pool);
    return 0;
}
