#define _GNU_SOURCE
#include "base/error.h"
#include "shim/exec_request.h"
#include "shim/inside.h"
#include "shim/ops.h"

/* For requests with the member `sandbox`: a sandbox that refuses every program, with the given
 * reason. */
static int refuse_all(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    (void)request;
    return bs_fail(err, BS_E_DENIED, 0, "%.1900s", (const char *)ctx);
}

static enum bs_answer run(const struct bs_call *call, const struct bs_decoder *decoder,
                          struct bs_inside *inside, struct bs_exec_request *request,
                          struct bs_json_writer *out) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    int code = bs_check_nul(decoder, request, &err);
    if (code == BS_OK)
        code = bs_inside_place(inside, request, &err);
    if (code == BS_OK)
        code = bs_inside_open(inside, &err);
    if (code == BS_OK)
        code = bs_inside_run(inside, request, &result, &err);
    if (code == BS_OK) {
        bs_answer_open(out, call->id, "result");
        bs_json_open_object(out);
        bs_put_result(out, &result);
        bs_inside_put(inside, out);
        bs_json_close_object(out);
        bs_answer_close(out);
    } else {
        answer = bs_answer_error(out, call->id, code, err.message);
    }
    bs_exec_result_clear(&result);
    return answer;
}

enum bs_answer bs_op_exec_run(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id", "op", "request", "sandbox", "hold", "backend", NULL};
    static const char *const known_sandbox[] = {"refuse", NULL};
    struct bs_decoder decoder = {0};
    struct bs_exec_request request;
    bs_refuse_unknown(&decoder, call->request, "", known);
    /* Decode `backend` before the request, because a NUL in `backend` is a problem of the request,
     * but a NUL in the command is a failed spawn. */
    struct bs_inside *inside = bs_inside_decode(&decoder, call->request, false);
    bs_decode_request(&decoder, cJSON_GetObjectItemCaseSensitive(call->request, "request"),
                      "/request", &request);
    struct bs_sandbox sandbox = {NULL, refuse_all, NULL, NULL};
    const cJSON *refusing = cJSON_GetObjectItemCaseSensitive(call->request, "sandbox");
    if (refusing != NULL) {
        bs_refuse_unknown(&decoder, refusing, "/sandbox", known_sandbox);
        /* the cast removes const; this is safe because validate only reads the text */
        sandbox.ctx =
            (void *)(uintptr_t)bs_decode_text(&decoder, refusing, "/sandbox", "refuse", true);
        request.sandbox = &sandbox;
    }
    if (refusing != NULL && inside != NULL)
        bs_problem(&decoder, "/sandbox", "give `sandbox` or `backend`, not both");
    enum bs_answer answer = bs_decoder_failed(&decoder)
                                ? bs_answer_problems(out, call->id, &decoder)
                                : run(call, &decoder, inside, &request, out);
    bs_inside_close(inside);
    bs_decoder_clear(&decoder);
    return answer;
}

enum bs_answer bs_op_exec_format_env(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id", "op", "env", NULL};
    struct bs_decoder decoder = {0};
    struct bs_exec_request request = BS_EXEC_REQUEST_INIT;
    struct bs_bytes text = BS_BYTES_INIT;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
    bs_decode_env(&decoder, cJSON_GetObjectItemCaseSensitive(call->request, "env"), "/env",
                  &request);
    bs_refuse_nul(&decoder);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    int code = bs_exec_format_env(request.env_mode, request.env, request.n_env, &text, &err);
    if (code == BS_OK) {
        bs_answer_open(out, call->id, "result");
        bs_json_open_object(out);
        bs_json_put_key(out, "text");
        bs_json_put_string(out, text.data, text.len);
        bs_json_close_object(out);
        bs_answer_close(out);
    } else {
        (void)bs_answer_error(out, call->id, code, err.message);
    }
finish:
    bs_bytes_clear(&text);
    bs_decoder_clear(&decoder);
    return answer;
}
