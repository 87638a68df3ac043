/* The operation backend.probe, the lists of operations and capabilities of backends, and the list
 * of backends for the answer to hello. */
#include "shim/backend_answer.h"
#include "shim/backend_request.h"
#include "shim/ops.h"

static enum bs_answer probe(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {
        "id", "op", "backend", "profile", "policy", "egress", "strict_metadata", "accept", NULL};
    struct bs_decoder decoder = {0};
    struct bs_wanted_sandbox wanted = {.context = BS_BACKEND_CONTEXT_INIT};
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
    bs_decode_backend_name(&decoder, call->request, "", "backend", &wanted);
    bs_decode_confinement(&decoder, call->request, "", &wanted);
    bs_refuse_nul(&decoder);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    int code = bs_backend_probe(wanted.backend, &wanted.context, -1, &report, &err);
    if (code != BS_OK) {
        answer = bs_answer_error(out, call->id, code, err.message);
        goto finish;
    }
    bs_answer_open(out, call->id, "result");
    bs_put_claims(out, &report);
    bs_answer_close(out);
finish:
    bs_backend_report_clear(&report);
    bs_decoder_clear(&decoder);
    return answer;
}

const struct bs_operation bs_backend_operations[] = {
    {"backend.probe", probe, true}, {"backend.run", bs_op_backend_run, true}, {NULL, NULL, false}};

const char *const bs_backend_capabilities[] = {"backend",
                                               "backend.policy",
                                               "backend.scan",
                                               "backend.script",
                                               "backend.strict_metadata",
                                               "backend.accept",
                                               "exec.backend",
                                               "process.backend",
                                               "module.backend",
                                               NULL};

void bs_put_backends(struct bs_json_writer *out) {
    bs_json_put_key(out, "backends");
    bs_json_open_object(out);
    for (size_t i = 0; bs_backend_at(i) != NULL; i++) {
        const struct bs_backend *backend = bs_backend_at(i);
        bs_json_put_key(out, backend->name);
        bs_json_open_object(out);
        bs_json_put_key(out, "mechanism");
        bs_json_put_text(out, backend->mechanism);
        bs_json_close_object(out);
    }
    bs_json_close_object(out);
}
