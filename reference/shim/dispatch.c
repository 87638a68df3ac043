#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "shim/ops.h"

static const struct bs_operation operations[] = {
    {"hello", bs_op_hello, false},
    {"exec.run", bs_op_exec_run, true},
    {"exec.batch", bs_op_exec_batch, true},
    {"exec.format_env", bs_op_exec_format_env, false},
    {"path.normalize", bs_op_path_normalize, false},
    {"glob.match", bs_op_glob_match, false},
    {"policy.load", bs_op_policy_load, false},
    {"policy.resolve", bs_op_policy_resolve, false},
    {"policy.check", bs_op_policy_check, false},
    {"policy.check_resolved", bs_op_policy_check_resolved, false},
    {"policy.explain", bs_op_policy_explain, false},
    {"policy.audit", bs_op_policy_audit, false},
    {"sbpl.compile", bs_op_sbpl_compile, false},
    {"sbpl.wrap", bs_op_sbpl_wrap, false},
    {"process.script", bs_op_process_script, true},
    {"process.bridge", bs_op_process_bridge, true},
    {"module.execute", bs_op_module_execute, false},
    {"bye", bs_op_bye, false},
    {NULL, NULL, false},
};

static enum bs_answer refuse(const cJSON *id, const char *message, struct bs_json_writer *out) {
    return bs_answer_error(out, id, BS_E_INVALID, message);
}

static enum bs_answer unsupported(const cJSON *id, const cJSON *op, struct bs_json_writer *out) {
    bs_answer_open(out, id, "unsupported");
    bs_json_open_object(out);
    bs_json_put_key(out, "capability");
    bs_put_given(out, op);
    bs_json_put_key(out, "why");
    bs_json_put_text(out, "this shim does not know the operation");
    bs_json_close_object(out);
    bs_answer_close(out);
    return BS_ANSWERED;
}

enum bs_answer bs_op_bye(const struct bs_call *call, struct bs_json_writer *out) {
    bs_answer_open(out, call->id, "result");
    bs_json_open_object(out);
    bs_json_close_object(out);
    bs_answer_close(out);
    return BS_ANSWERED;
}

static const struct bs_operation *find(const struct bs_operation *table, const char *name) {
    while (table->name != NULL && strcmp(table->name, name) != 0)
        table++;
    return table->name != NULL ? table : NULL;
}

static enum bs_answer call_operation(const cJSON *request, enum bs_shim_mode mode,
                                     struct bs_policies *policies, struct bs_json_writer *out,
                                     struct bs_done *done) {
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(request, "id");
    const cJSON *op = cJSON_GetObjectItemCaseSensitive(request, "op");
    if (!cJSON_IsObject(request))
        return refuse(NULL, "a request must be a JSON object", out);
    if (!cJSON_IsString(id))
        return refuse(NULL, "/id: a string that names the request is missing", out);
    if (!cJSON_IsString(op))
        return refuse(id, "/op: the name of an operation is missing", out);
    const struct bs_call call = {id, request, mode, policies, &done->file};
    const struct bs_operation *operation = find(operations, op->valuestring);
    if (operation == NULL)
        operation = find(bs_backend_operations, op->valuestring);
    if (operation == NULL)
        return unsupported(id, op, out);
    if (operation->run_only && mode == BS_MODE_SERVE)
        return refuse(id,
                      "/op: not under `serve`, where a child would inherit the protocol's "
                      "stdin; use `run REQUEST RESPONSE`",
                      out);
    done->bye = operation->answer == bs_op_bye;
    return operation->answer(&call, out);
}

struct bs_done bs_dispatch(const char *text, size_t len, enum bs_shim_mode mode,
                           struct bs_policies *policies, struct bs_json_writer *out) {
    struct bs_done done = {BS_ANSWERED, false, NULL, BS_SBPL_FILE_INIT};
    struct bs_json_error where;
    /* Allow one more level of nesting, because the input of a module is a part of the request, and
     * may itself have the full depth. */
    cJSON *request = bs_json_parse_around(text, len, 1, &where);
    if (request == NULL && where.out_of_memory) {
        /* the id is unknown without the request, so no answer is possible */
        out->text.failed = true;
        return done;
    }
    if (request == NULL) {
        char message[256];
        (void)snprintf(message, sizeof message, "not JSON: line %zu, column %zu: %s", where.line,
                       where.column, where.message);
        done.answer = refuse(NULL, message, out);
        return done;
    }
    const cJSON *hold = cJSON_GetObjectItemCaseSensitive(request, "hold");
    if (mode == BS_MODE_RUN && cJSON_IsString(hold))
        done.hold = strdup(hold->valuestring);
    if (mode == BS_MODE_RUN && cJSON_IsString(hold) && done.hold == NULL)
        out->text.failed = true;
    done.answer = call_operation(request, mode, policies, out, &done);
    cJSON_Delete(request);
    return done;
}
