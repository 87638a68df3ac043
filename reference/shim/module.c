#define _GNU_SOURCE
#include <boxspec/module.h>

#include <signal.h>
#include <string.h>

#include "shim/inside.h"
#include "shim/ops.h"

static void put_member(struct bs_json_writer *out, const char *name, const char *text, size_t len) {
    bs_json_put_key(out, name);
    bs_json_put_string(out, len > 0 ? text : "", len);
}

static void put_count(struct bs_json_writer *out, const char *name, uint64_t value) {
    bs_json_put_key(out, name);
    bs_json_put_u64(out, value);
}

static void put_failure(struct bs_json_writer *out, const char *id,
                        const struct bs_module_result *result) {
    bs_json_put_key(out, "error");
    bs_json_open_object(out);
    bs_json_put_key(out, "class");
    bs_json_put_text(out, bs_module_outcome_name(result->outcome));
    put_member(out, "module_id", id, strlen(id));
    put_member(out, result->outcome == BS_MODULE_OUTPUT_PARSE ? "reason" : "message",
               result->message, strlen(result->message));
    if (result->outcome == BS_MODULE_TIMEOUT)
        put_count(out, "timeout_ms", result->timeout_ms);
    if (result->outcome == BS_MODULE_NON_ZERO_EXIT) {
        put_count(out, "exit_code", (uint64_t)result->exit_code);
        put_member(out, "stderr", result->stderr_text.data, result->stderr_text.len);
    }
    if (result->outcome == BS_MODULE_SIGNALED || result->outcome == BS_MODULE_INTERRUPTED) {
        bs_json_put_key(out, "signal");
        bs_put_signal(out, result->signal);
    }
    if (result->outcome == BS_MODULE_OUTPUT_SIZE) {
        bs_json_put_key(out, "stream");
        bs_json_put_text(out, result->stream == BS_STDOUT ? "stdout" : "stderr");
    }
    bs_json_close_object(out);
}

static void put_outcome(struct bs_json_writer *out, const char *id,
                        struct bs_module_result *result) {
    if (result->outcome == BS_MODULE_VALUE) {
        bs_json_put_key(out, "value");
        bs_json_put_value(out, result->value.data, result->value.len);
    } else {
        put_failure(out, id, result);
    }
    if (result->caller_exposed) {
        bs_json_put_key(out, "caller_exposed");
        bs_json_put_bool(out, true);
    }
    if (result->left.len > 0) {
        bs_json_put_key(out, "directory_left");
        bs_json_put_lossy(out, result->left.data, result->left.len);
    }
}

static enum bs_answer execute(const struct bs_call *call, struct bs_module_request *request,
                              const cJSON *input, struct bs_inside *inside,
                              struct bs_json_writer *out) {
    struct bs_module_result result = BS_MODULE_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_json_writer input_text = BS_JSON_WRITER_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_json_put_tree(&input_text, input);
    out->text.failed |= input_text.text.failed;
    request->input = input_text.text.data;
    request->input_len = input_text.text.len;
    int code = input_text.text.failed ? BS_OK : bs_inside_open(inside, &err);
    request->sandbox = code == BS_OK ? bs_inside_sandbox(inside) : NULL;
    if (code == BS_OK && !input_text.text.failed)
        code = bs_module_execute(request, &result, &err);
    if (code == BS_OK) {
        bs_answer_open(out, call->id, "result");
        bs_json_open_object(out);
        put_outcome(out, request->id, &result);
        bs_inside_put(inside, out);
        bs_json_close_object(out);
        bs_answer_close(out);
    } else {
        answer = bs_answer_error(out, call->id, code, err.message);
    }
    bs_module_result_clear(&result);
    bs_json_writer_clear(&input_text);
    return answer;
}

enum bs_answer bs_op_module_execute(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {
        "id",      "op",         "module_id",       "module_id_b64", "input",
        "enabled", "timeout_ms", "extensions_root", "hold",          "extensions_root_b64",
        "backend", NULL};
    struct bs_decoder decoder = {0};
    struct bs_module_request request = BS_MODULE_REQUEST_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
    struct bs_inside *inside = bs_inside_decode(&decoder, call->request, true);
    request.id = bs_decode_text(&decoder, call->request, "", "module_id", true);
    request.extensions_root = bs_decode_text(&decoder, call->request, "", "extensions_root", false);
    const cJSON *enabled = cJSON_GetObjectItemCaseSensitive(call->request, "enabled");
    const cJSON *input = cJSON_GetObjectItemCaseSensitive(call->request, "input");
    request.enabled = enabled == NULL || bs_decode_bool(&decoder, call->request, "", "enabled");
    (void)bs_decode_u64(&decoder, call->request, "", "timeout_ms", &request.timeout_ms);
    bs_refuse_nul(&decoder);
    if (input == NULL)
        bs_problem(&decoder, "/input", "a JSON value is missing");
    if (request.enabled && call->mode == BS_MODE_SERVE)
        bs_problem(
            &decoder, "/enabled",
            "must be false under `serve`, where a child would inherit the protocol's stdin; use "
            "`run REQUEST RESPONSE`");
    answer = bs_decoder_failed(&decoder) ? bs_answer_problems(out, call->id, &decoder)
                                         : execute(call, &request, input, inside, out);
    bs_inside_close(inside);
    bs_decoder_clear(&decoder);
    return answer;
}
