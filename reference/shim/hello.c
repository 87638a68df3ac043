#define _GNU_SOURCE
#include <unistd.h>

#include <boxspec/process.h>
#include <boxspec/version.h>

#include "shim/ops.h"

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
    };
    bs_json_open_array(out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        bs_json_put_text(out, names[i]);
    for (const char *const *name = bs_backend_capabilities; *name != NULL; name++)
        bs_json_put_text(out, *name);
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
    bs_put_backends(out);
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
