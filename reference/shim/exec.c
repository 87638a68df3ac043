#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/sys.h"
#include "shim/ops.h"

#ifdef BOXSPEC_BACKENDS
#include "shim/backend_answer.h"
#include "shim/backend_request.h"
#endif

/* The sandbox that a request may ask for: it refuses everything, with the given reason. */
static int refuse_all(void *ctx, const struct bs_exec_request *request, struct bs_error *err) {
    (void)request;
    return bs_fail(err, BS_E_DENIED, 0, "%.1900s", (const char *)ctx);
}

/* A NUL would end the string early for the system; C strings cannot carry it to the library, so
 * this spawn failure is made here. */
static bool holds_nul(const struct bs_decoder *decoder, const struct bs_exec_request *request,
                      struct bs_error *err) {
    if (decoder->nul_in[0] == '\0')
        return false;
    (void)bs_fail(err, BS_E_EXECUTION, EINVAL, "failed to spawn `%.900s`: %s holds a NUL byte",
                  request->program, decoder->nul_in);
    return true;
}

static int run(const struct bs_decoder *decoder, const struct bs_exec_request *request,
               struct bs_exec_result *result, struct bs_error *err) {
    if (holds_nul(decoder, request, err))
        return BS_E_EXECUTION;
    return bs_exec_run(request, result, err);
}

#ifdef BOXSPEC_BACKENDS
static enum bs_answer answer_confined(const struct bs_call *call, const struct bs_decoder *decoder,
                                      const struct bs_asked_backend *asked,
                                      const struct bs_exec_request *request,
                                      struct bs_json_writer *out) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_claim enforcement = BS_CLAIM_UNAVAILABLE;
    enum bs_answer answer = BS_ANSWERED;
    int code = holds_nul(decoder, request, &err) ? BS_E_EXECUTION : BS_OK;
    if (code == BS_OK)
        code = bs_run_confined(asked, request, &result, &enforcement, &report, &err);
    if (code != BS_OK) {
        answer = bs_answer_error(out, call->id, code, err.message);
    } else {
        bs_answer_open(out, call->id, "result");
        bs_json_open_object(out);
        bs_put_result(out, &result);
        bs_put_enforcement(out, enforcement, &asked->context, &report);
        bs_json_close_object(out);
        bs_answer_close(out);
    }
    bs_backend_report_clear(&report);
    bs_exec_result_clear(&result);
    return answer;
}
#endif

static enum bs_answer answer_run(const struct bs_call *call, const struct bs_decoder *decoder,
                                 const struct bs_exec_request *request,
                                 struct bs_json_writer *out) {
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    int code = run(decoder, request, &result, &err);
    if (code == BS_OK) {
        bs_answer_open(out, call->id, "result");
        bs_json_open_object(out);
        bs_put_result(out, &result);
        bs_json_close_object(out);
        bs_answer_close(out);
    } else {
        (void)bs_answer_error(out, call->id, code, err.message);
    }
    bs_exec_result_clear(&result);
    return BS_ANSWERED;
}

enum bs_answer bs_op_exec_run(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id",      "op", "request", "sandbox", "hold",
#ifdef BOXSPEC_BACKENDS
                                        "backend",
#endif
                                        NULL};
    static const char *const known_sandbox[] = {"refuse", NULL};
    struct bs_decoder decoder = {0};
    struct bs_exec_request request;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
#ifdef BOXSPEC_BACKENDS
    struct bs_asked_backend asked;
    const cJSON *backend = cJSON_GetObjectItemCaseSensitive(call->request, "backend");
    if (backend != NULL) /* first: a NUL in it is another problem than one in the command */
        bs_decode_use(&decoder, backend, &asked);
#endif
    bs_decode_request(&decoder, cJSON_GetObjectItemCaseSensitive(call->request, "request"),
                      "/request", &request);
    struct bs_sandbox sandbox = {NULL, refuse_all, NULL, NULL};
    const cJSON *refusing = cJSON_GetObjectItemCaseSensitive(call->request, "sandbox");
    if (refusing != NULL) {
        bs_refuse_unknown(&decoder, refusing, "/sandbox", known_sandbox);
        /* validate only reads it */
        sandbox.ctx =
            (void *)(uintptr_t)bs_decode_text(&decoder, refusing, "/sandbox", "refuse", true);
        request.sandbox = &sandbox;
    }
#ifdef BOXSPEC_BACKENDS
    if (refusing != NULL && backend != NULL)
        bs_problem(&decoder, "/sandbox", "give `sandbox` or `backend`, not both");
#endif
    if (bs_decoder_failed(&decoder))
        answer = bs_answer_problems(out, call->id, &decoder);
#ifdef BOXSPEC_BACKENDS
    else if (backend != NULL)
        answer = answer_confined(call, &decoder, &asked, &request, out);
#endif
    else
        answer = answer_run(call, &decoder, &request, out);
    bs_decoder_clear(&decoder);
    return answer;
}

/* What the runs of a batch share: the sandbox around them, if they have one. */
struct batch_setting {
#ifdef BOXSPEC_BACKENDS
    struct bs_session *session; /* NULL: none */
    const struct bs_backend_context *context;
    struct bs_backend_report report;
#else
    char nothing;
#endif
};

struct batch_run {
    const struct batch_setting *setting;
    struct bs_decoder decoder;
    struct bs_exec_request request;
    struct bs_exec_result result;
    struct bs_error err;
    uint64_t at; /* CLOCK_MONOTONIC ns */
    int code;
    pthread_t thread;
    bool started;
};

static int run_of_batch(struct batch_run *item) {
#ifdef BOXSPEC_BACKENDS
    if (item->setting->session != NULL)
        return holds_nul(&item->decoder, &item->request, &item->err)
                   ? BS_E_EXECUTION
                   : bs_session_run(item->setting->session, &item->request, &item->result,
                                    &item->err);
#endif
    return run(&item->decoder, &item->request, &item->result, &item->err);
}

static void *batch_thread(void *arg) {
    struct batch_run *item = arg;
    struct timespec at = {(time_t)(item->at / 1000000000U), (long)(item->at % 1000000000U)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {
    }
    item->code = run_of_batch(item);
    return NULL;
}

static void decode_batch_run(struct bs_decoder *decoder, const cJSON *entry, size_t index,
                             struct batch_run *item) {
    static const char *const known[] = {"after_ms", "request", NULL};
    char at[64];
    char request_at[80];
    uint64_t after_ms = 0;
    (void)snprintf(at, sizeof at, "/runs/%zu", index);
    (void)snprintf(request_at, sizeof request_at, "%s/request", at);
    bs_refuse_unknown(decoder, entry, at, known);
    (void)bs_decode_u64(decoder, entry, at, "after_ms", &after_ms);
    bs_decode_own_request(decoder, &item->decoder,
                          cJSON_GetObjectItemCaseSensitive(entry, "request"), request_at,
                          &item->request);
    item->at = after_ms; /* made absolute when all are decoded */
}

static void start_all(struct batch_run *items, size_t n) {
    enum { STACK = 512 * 1024 };
    pthread_attr_t attr;
    /* Without one the threads have the default stack, and do the same. */
    const pthread_attr_t *small = pthread_attr_init(&attr) == 0 ? &attr : NULL;
    if (small != NULL)
        (void)pthread_attr_setstacksize(&attr, STACK);
    uint64_t start = bs_now_ns();
    for (size_t i = 0; i < n; i++) {
        items[i].at = bs_after_ms(start, items[i].at);
        int os_error = pthread_create(&items[i].thread, small, batch_thread, &items[i]);
        items[i].started = os_error == 0;
        if (os_error != 0) {
            char buf[128];
            items[i].code =
                bs_fail(&items[i].err, BS_E_EXECUTION, os_error,
                        "failed to spawn `%.900s`: no thread for it: %s", items[i].request.program,
                        bs_os_message(os_error, buf, sizeof buf));
        }
    }
    if (small != NULL)
        (void)pthread_attr_destroy(&attr);
    for (size_t i = 0; i < n; i++) {
        if (items[i].started)
            (void)pthread_join(items[i].thread, NULL);
    }
}

static void put_run(struct bs_json_writer *out, const struct batch_setting *setting,
                    struct bs_exec_result *result) {
    bs_json_put_key(out, "result");
    bs_json_open_object(out);
    bs_put_result(out, result);
#ifdef BOXSPEC_BACKENDS
    if (setting->session != NULL)
        bs_put_enforcement(out, bs_session_enforcement(setting->session), setting->context,
                           &setting->report);
#else
    (void)setting;
#endif
    bs_json_close_object(out);
}

static void put_batch(struct batch_run *items, size_t n, const struct batch_setting *setting,
                      struct bs_json_writer *out) {
    bs_json_open_object(out);
    bs_json_put_key(out, "runs");
    bs_json_open_array(out);
    for (size_t i = 0; i < n; i++) {
        struct batch_run *item = &items[i];
        bs_json_open_object(out);
        if (item->code == BS_OK)
            put_run(out, setting, &item->result);
        else
            bs_put_error(out, item->code, item->err.message);
        bs_json_close_object(out);
    }
    bs_json_close_array(out);
    bs_json_close_object(out);
}

#ifdef BOXSPEC_BACKENDS
/* One session around all runs. */
static int open_setting(const struct bs_asked_backend *asked, const struct batch_run *items,
                        size_t n, struct batch_setting *setting, struct bs_error *err) {
    int code = BS_OK;
    setting->context = &asked->context;
    for (size_t i = 0; code == BS_OK && i < n; i++)
        code = bs_context_check_dir(&asked->context, items[i].request.current_dir, err);
    if (code == BS_OK)
        code = bs_session_open(asked->backend, &asked->context, asked->on_unavailable, NULL,
                               &setting->session, &setting->report, err);
    return code;
}
#endif

enum bs_answer bs_op_exec_batch(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id",      "op", "runs", "hold",
#ifdef BOXSPEC_BACKENDS
                                        "backend",
#endif
                                        NULL};
    struct bs_decoder decoder = {0};
    struct batch_setting setting = {0};
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
#ifdef BOXSPEC_BACKENDS
    struct bs_asked_backend asked;
    const cJSON *backend = cJSON_GetObjectItemCaseSensitive(call->request, "backend");
    if (backend != NULL)
        bs_decode_use(&decoder, backend, &asked);
#endif
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(call->request, "runs");
    size_t n = cJSON_IsArray(runs) ? (size_t)cJSON_GetArraySize(runs) : 0;
    struct batch_run *items = calloc(n + 1, sizeof *items);
    if (!cJSON_IsArray(runs))
        bs_problem(&decoder, "/runs", "must be an array of {\"after_ms\": 0, \"request\": {...}}");
    if (items == NULL) {
        decoder.out_of_memory = true;
        n = 0;
    }
    const cJSON *entry = NULL;
    size_t i = 0;
    cJSON_ArrayForEach(entry, runs) {
        if (i < n) {
            items[i].setting = &setting;
            decode_batch_run(&decoder, entry, i, &items[i]);
        }
        i++;
    }
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
#ifdef BOXSPEC_BACKENDS
    struct bs_error err = BS_ERROR_INIT;
    int code = backend != NULL ? open_setting(&asked, items, n, &setting, &err) : BS_OK;
    if (code != BS_OK) {
        answer = bs_answer_error(out, call->id, code, err.message);
        goto finish;
    }
#endif
    start_all(items, n);
    bs_answer_open(out, call->id, "result");
    put_batch(items, n, &setting, out);
    bs_answer_close(out);
finish:
    for (i = 0; i < n; i++) {
        bs_exec_result_clear(&items[i].result);
        bs_decoder_clear(&items[i].decoder);
    }
    free(items);
#ifdef BOXSPEC_BACKENDS
    (void)bs_session_close(setting.session, NULL);
    bs_backend_report_clear(&setting.report);
#endif
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
