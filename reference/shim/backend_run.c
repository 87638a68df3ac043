/* The operation backend.run: opens a session, runs requests in it, closes it, and answers with the
 * log of all calls. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/backend_answer.h"
#include "shim/backend_request.h"
#include "shim/backend_script.h"
#include "shim/exec_request.h"
#include "shim/ops.h"

/* The log of a session, written as JSON while the session runs. */
struct notes {
    struct bs_json_writer log; /* an array; closed when it is put into the answer */
    bool probed;               /* a probe has succeeded, so the report has claims */
};

static void put_wrapped(struct bs_json_writer *out, const struct bs_wrapped *wrapped) {
    bs_json_put_key(out, "argv_b64");
    bs_json_open_array(out);
    for (size_t i = 0; wrapped->argv[i] != NULL; i++)
        bs_put_bytes(out, wrapped->argv[i]);
    bs_json_close_array(out);
    bs_json_put_key(out, "env");
    bs_json_open_array(out);
    for (size_t i = 0; i < wrapped->n_env; i++) {
        const char *const pair[] = {wrapped->env[i].name, wrapped->env[i].value};
        bs_put_texts(out, pair, 2);
    }
    bs_json_close_array(out);
}

static void note(void *ctx, const char *called, int code, const char *message,
                 const struct bs_backend_report *report, const struct bs_wrapped *wrapped) {
    struct notes *notes = ctx;
    struct bs_json_writer *log = &notes->log;
    bs_json_open_object(log);
    bs_json_put_key(log, "call");
    bs_json_put_text(log, called);
    bs_json_put_key(log, "ok");
    bs_json_put_bool(log, code == BS_OK);
    if (message != NULL) {
        bs_json_put_key(log, "message");
        bs_json_put_lossy(log, message, strlen(message));
    }
    if (wrapped != NULL)
        put_wrapped(log, wrapped);
    bs_json_close_object(log);
    if (report != NULL)
        notes->probed = true;
}

/* One request of the session, with its own decoder. If the request contains a NUL, only this call
 * fails. */
struct session_call {
    struct bs_decoder decoder;
    struct bs_exec_request request;
};

static int run_call(struct bs_session *session, const struct session_call *call,
                    struct bs_exec_result *result, struct bs_error *err) {
    *result = (struct bs_exec_result)BS_EXEC_RESULT_INIT;
    int code = bs_check_nul(&call->decoder, &call->request, err);
    return code == BS_OK ? bs_session_run(session, &call->request, result, err) : code;
}

static void put_call(struct bs_json_writer *out, struct bs_session *session,
                     const struct session_call *call) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    int code = run_call(session, call, &result, &err);
    bs_json_open_object(out);
    if (code == BS_OK) {
        bs_json_put_key(out, "result");
        bs_json_open_object(out);
        bs_put_result(out, &result);
        bs_put_enforcement(out, bs_session_enforcement(session), NULL, NULL);
        bs_json_close_object(out);
    } else {
        bs_put_error(out, code, err.message);
    }
    bs_json_close_object(out);
    bs_exec_result_clear(&result);
}

static void put_violations(struct bs_json_writer *out, const struct bs_backend_report *report) {
    bs_json_put_key(out, "violations");
    bs_json_open_array(out);
    for (size_t i = 0; i < report->n_violations; i++) {
        const struct bs_violation *violation = &report->violations[i];
        bs_json_open_object(out);
        bs_json_put_key(out, "path_b64");
        bs_put_bytes(out, violation->path);
        bs_json_put_key(out, "rule");
        bs_json_put_lossy(out, violation->rule, strlen(violation->rule));
        bs_json_close_object(out);
    }
    bs_json_close_array(out);
}

struct session_calls {
    struct session_call *items;
    size_t n;
};

static void decode_calls(struct bs_decoder *decoder, const cJSON *request,
                         struct session_calls *calls) {
    static const char *const known[] = {"request", NULL};
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(request, "calls");
    size_t n = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    if (!cJSON_IsArray(list))
        bs_problem(decoder, "/calls", "must be an array of {\"request\": {...}}");
    calls->items = calloc(n + 1, sizeof *calls->items);
    decoder->out_of_memory |= calls->items == NULL;
    const cJSON *entry = NULL;
    cJSON_ArrayForEach(entry, list) {
        char at[64];
        char request_at[80];
        if (calls->items == NULL || calls->n == n)
            return;
        struct session_call *call = &calls->items[calls->n];
        (void)snprintf(at, sizeof at, "/calls/%zu", calls->n++);
        (void)snprintf(request_at, sizeof request_at, "%s/request", at);
        bs_refuse_unknown(decoder, entry, at, known);
        bs_decode_own_request(decoder, &call->decoder,
                              cJSON_GetObjectItemCaseSensitive(entry, "request"), request_at,
                              &call->request);
    }
}

static void clear_calls(struct session_calls *calls) {
    for (size_t i = 0; i < calls->n; i++)
        bs_decoder_clear(&calls->items[i].decoder);
    free(calls->items);
}

/* Check the directories of all requests before the session is opened. If one of them contradicts
 * the context, the whole operation fails. */
static int check_calls(const struct bs_wanted_sandbox *wanted, const struct session_calls *calls,
                       struct bs_error *err) {
    int code = BS_OK;
    for (size_t i = 0; code == BS_OK && i < calls->n; i++)
        code = bs_context_check_dir(&wanted->context, calls->items[i].request.current_dir, err);
    return code;
}

static void put_session(struct bs_json_writer *out, const struct bs_wanted_sandbox *wanted,
                        struct bs_session *session, int code, struct bs_backend_report *report,
                        struct notes *notes, const struct session_calls *calls,
                        const struct bs_error *err) {
    enum bs_claim enforcement =
        session != NULL ? bs_session_enforcement(session) : BS_CLAIM_UNAVAILABLE;
    const char *why = code != BS_OK ? err->message
                      : enforcement == BS_CLAIM_UNAVAILABLE && report->n_warnings > 0
                          ? report->warnings[report->n_warnings - 1]
                          : NULL;
    bs_json_open_object(out);
    bs_json_put_key(out, "session");
    bs_json_put_text(out, code == BS_OK ? "opened" : "refused");
    if (why != NULL) {
        bs_json_put_key(out, "why");
        bs_json_put_lossy(out, why, strlen(why));
    }
    bs_json_put_key(out, "calls");
    bs_json_open_array(out);
    for (size_t i = 0; session != NULL && i < calls->n; i++)
        put_call(out, session, &calls->items[i]);
    bs_json_close_array(out);
    bs_json_put_key(out, "enforcement");
    bs_json_put_text(out, bs_enforcement_name(enforcement));
    bs_json_put_key(out, "reasons");
    bs_put_reasons(out, &wanted->context, report);
    struct bs_error scanned = BS_ERROR_INIT;
    if (session != NULL && bs_session_scan(session, report, &scanned) != BS_OK)
        note(notes, "run", scanned.code, scanned.message, NULL, NULL);
    (void)bs_session_close(session, NULL);
    bs_json_put_key(out, "warnings");
    bs_put_texts(out, report->warnings, report->n_warnings);
    bs_json_put_key(out, "claims");
    if (notes->probed)
        bs_put_claims(out, report);
    else
        bs_json_put_null(out);
    bs_json_put_key(out, "not_enforced");
    bs_put_unenforced(out, report);
    bs_json_put_key(out, "hard_links_b64");
    bs_json_open_array(out);
    for (size_t i = 0; i < report->n_hard_links; i++)
        bs_put_bytes(out, report->hard_links[i]);
    bs_json_close_array(out);
    put_violations(out, report);
    bs_json_close_array(&notes->log);
    bs_json_put_key(out, "log");
    bs_json_put_written(out, &notes->log);
    bs_json_close_object(out);
}

enum bs_answer bs_op_backend_run(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id",    "op",      "backend", "script", "on_unavailable",
                                        "calls", "context", "hold",    NULL};
    struct bs_decoder decoder = {0};
    struct bs_wanted_sandbox wanted = {.context = BS_BACKEND_CONTEXT_INIT};
    struct bs_scripted_backend script;
    struct session_calls calls = {NULL, 0};
    struct notes notes = {BS_JSON_WRITER_INIT, false};
    const struct bs_session_log log = {&notes, note};
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    struct bs_session *session = NULL;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    const cJSON *scripted = cJSON_GetObjectItemCaseSensitive(call->request, "script");
    bs_refuse_unknown(&decoder, call->request, "", known);
    bs_decode_context(&decoder, cJSON_GetObjectItemCaseSensitive(call->request, "context"),
                      "/context", &wanted);
    bs_decode_on_unavailable(&decoder, call->request, "", &wanted);
    if (scripted == NULL) {
        bs_decode_backend_name(&decoder, call->request, "", "backend", &wanted);
    } else {
        bs_decode_script(&decoder, scripted, "/script", &script);
        wanted.backend = &script.backend;
        if (!bs_is_word(cJSON_GetObjectItemCaseSensitive(call->request, "backend"), "script"))
            bs_problem(&decoder, "/backend", "must be \"script\" if `script` is given");
    }
    bs_refuse_nul(&decoder);
    decode_calls(&decoder, call->request, &calls);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    bs_json_open_array(&notes.log);
    int code = check_calls(&wanted, &calls, &err);
    if (code == BS_OK)
        code = bs_session_open(wanted.backend, &wanted.context, wanted.on_unavailable, &log,
                               &session, &report, &err);
    if (code != BS_OK && code != BS_E_DENIED) {
        answer = bs_answer_error(out, call->id, code, err.message);
        goto finish;
    }
    bs_answer_open(out, call->id, "result");
    put_session(out, &wanted, session, code, &report, &notes, &calls, &err);
    bs_answer_close(out);
finish:
    clear_calls(&calls);
    bs_json_writer_clear(&notes.log);
    bs_backend_report_clear(&report);
    bs_decoder_clear(&decoder);
    return answer;
}
