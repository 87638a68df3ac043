#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <boxspec/process.h>
#include <boxspec/version.h>

#include "shim/ops.h"

#ifdef BOXSPEC_BACKENDS
#include "shim/backend_request.h"
#endif

typedef enum bs_answer (*op_function)(const struct bs_call *call, struct bs_json_writer *out);

static const struct {
    const char *name;
    op_function answer;
    bool run_only;
} operations[] = {
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
#ifdef BOXSPEC_BACKENDS
    {"backend.probe", bs_op_backend_probe, true},
    {"backend.run", bs_op_backend_run, true},
#endif
    {"bye", bs_op_bye, false},
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

static void put_implementation(struct bs_json_writer *out) {
    bs_json_open_object(out);
    bs_json_put_key(out, "name");
    bs_json_put_text(out, "boxspec-ref");
    bs_json_put_key(out, "version");
    bs_json_put_text(out, BOXSPEC_VERSION);
    bs_json_put_key(out, "language");
    bs_json_put_text(out, "C");
    bs_json_put_key(out, "homepage");
    bs_json_put_text(out, "");
    bs_json_close_object(out);
}

static void put_capabilities(struct bs_json_writer *out) {
    static const char *const names[] = {
        "exec",
        "exec.bytes",
        "exec.concurrent",
        "exec.debug",
        "exec.cap",
        "exec.stdin_failure",
        "exec.termination",
        "exec.sandbox",
        "path",
        "glob",
        "policy",
        "policy.load",
        "policy.json",
        "policy.yaml",
        "policy.fold",
        "policy.resolved",
        "policy.resolved.parent",
        "policy.explain",
        "policy.audit",
        "sbpl",
        "sbpl.fold",
        "sbpl.wrap",
        "module",
        "module.runner",
        "process",
#ifdef BOXSPEC_BACKENDS
        "backend",
        "backend.policy",
        "backend.scan",
        "backend.script",
        "backend.strict_metadata",
        "backend.accept",
        "exec.backend",
        "process.backend",
        "module.backend",
#endif
    };
    bs_json_open_array(out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        bs_json_put_text(out, names[i]);
    bs_json_close_array(out);
}

static void put_limits(struct bs_json_writer *out) {
    bs_json_open_object(out);
    bs_json_put_key(out, "max_line_bytes");
    bs_json_put_u64(out, BS_SHIM_MOST_LINE);
    bs_json_put_key(out, "max_integer");
    bs_json_put_text(out, "18446744073709551615");
    bs_json_close_object(out);
}

static void put_constants(struct bs_json_writer *out) {
    bs_json_open_object(out);
    bs_json_put_key(out, "grace_ms");
    bs_json_put_u64(out, BS_EXEC_GRACE_MS);
    bs_json_put_key(out, "tick_ms");
    bs_json_put_u64(out, BS_EXEC_TICK_MS);
    bs_json_put_key(out, "bridge_grace_ms");
    bs_json_put_u64(out, BS_BRIDGE_GRACE_MS);
    bs_json_close_object(out);
}

static void put_hello(struct bs_json_writer *out, const char *nonce) {
    bs_json_open_object(out);
    bs_json_put_key(out, "protocol");
    bs_json_put_u64(out, 1);
    bs_json_put_key(out, "nonce");
    bs_json_put_text(out, nonce);
    bs_json_put_key(out, "pid");
    bs_json_put_u64(out, (uint64_t)getpid());
    bs_json_put_key(out, "implementation");
    put_implementation(out);
    bs_json_put_key(out, "spec_version");
    bs_json_put_text(out, "1.0");
    bs_json_put_key(out, "capabilities");
    put_capabilities(out);
#ifdef BOXSPEC_BACKENDS
    bs_json_put_key(out, "backends");
    bs_put_backends(out);
#endif
    bs_json_put_key(out, "limits");
    put_limits(out);
    bs_json_put_key(out, "constants");
    put_constants(out);
    bs_json_close_object(out);
}

enum bs_answer bs_op_hello(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id", "op", "protocol", "nonce", NULL};
    struct bs_decoder decoder = {0};
    enum bs_answer answer = BS_ANSWERED;
    uint64_t protocol = 1;
    bs_refuse_unknown(&decoder, call->request, "", known);
    (void)bs_decode_u64(&decoder, call->request, "", "protocol", &protocol);
    if (protocol != 1)
        bs_problem(&decoder, "/protocol", "this shim speaks protocol 1");
    const char *nonce = bs_decode_text(&decoder, call->request, "", "nonce", true);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    bs_answer_open(out, call->id, "result");
    put_hello(out, nonce);
    bs_answer_close(out);
finish:
    bs_decoder_clear(&decoder);
    return answer;
}

enum bs_answer bs_op_bye(const struct bs_call *call, struct bs_json_writer *out) {
    bs_answer_open(out, call->id, "result");
    bs_json_open_object(out);
    bs_json_close_object(out);
    bs_answer_close(out);
    return BS_ANSWERED;
}

static enum bs_answer call_operation(const cJSON *request, enum bs_door door,
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
    const struct bs_call call = {id, request, door, policies, &done->file};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(op->valuestring, operations[i].name) != 0)
            continue;
        if (operations[i].run_only && door == BS_DOOR_SERVE)
            return refuse(id,
                          "/op: not under `serve`, where a child would inherit the protocol's "
                          "stdin; use `run REQUEST RESPONSE`",
                          out);
        done->bye = operations[i].answer == bs_op_bye;
        return operations[i].answer(&call, out);
    }
    return unsupported(id, op, out);
}

struct bs_done bs_dispatch(const char *text, size_t len, enum bs_door door,
                           struct bs_policies *policies, struct bs_json_writer *out) {
    struct bs_done done = {BS_ANSWERED, false, NULL, BS_SBPL_FILE_INIT};
    struct bs_json_error where;
    /* The input of a module stands inside the request. */
    cJSON *request = bs_json_parse_around(text, len, 1, &where);
    if (request == NULL && where.out_of_memory) {
        out->text.failed = true; /* whose answer it would be is not known */
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
    if (door == BS_DOOR_RUN && cJSON_IsString(hold))
        done.hold = strdup(hold->valuestring);
    if (door == BS_DOOR_RUN && cJSON_IsString(hold) && done.hold == NULL)
        out->text.failed = true;
    done.answer = call_operation(request, door, policies, out, &done);
    cJSON_Delete(request);
    return done;
}
