/* The operation exec.batch. It makes several runs, each on its own thread and at its own time. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/sys.h"
#include "shim/exec_request.h"
#include "shim/inside.h"
#include "shim/ops.h"

struct batch_run {
    const struct bs_inside *inside; /* the sandbox of the whole batch */
    struct bs_decoder decoder;
    struct bs_exec_request request;
    struct bs_exec_result result;
    struct bs_error err;
    uint64_t at; /* when to start, in ns of CLOCK_MONOTONIC */
    int code;
    pthread_t thread;
    bool started;
};

static void *run_at_its_time(void *arg) {
    struct batch_run *item = arg;
    struct timespec at = {(time_t)(item->at / 1000000000U), (long)(item->at % 1000000000U)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {
    }
    item->code = bs_check_nul(&item->decoder, &item->request, &item->err);
    if (item->code == BS_OK)
        item->code = bs_inside_run(item->inside, &item->request, &item->result, &item->err);
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
    item->at = after_ms; /* in milliseconds here; start_all turns it into a time */
}

static void start_all(struct batch_run *items, size_t n) {
    enum { STACK = 512 * 1024 };
    pthread_attr_t attr;
    /* A small stack suffices. If it cannot be set, the threads get the default stack. */
    const pthread_attr_t *small = pthread_attr_init(&attr) == 0 ? &attr : NULL;
    if (small != NULL)
        (void)pthread_attr_setstacksize(&attr, STACK);
    uint64_t start = bs_now_ns();
    for (size_t i = 0; i < n; i++) {
        items[i].at = bs_after_ms(start, items[i].at);
        int os_error = pthread_create(&items[i].thread, small, run_at_its_time, &items[i]);
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

struct batch {
    struct bs_decoder decoder;
    struct bs_inside *inside;
    struct batch_run *items;
    size_t n;
};

static void decode_runs(struct batch *batch, const cJSON *request) {
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(request, "runs");
    size_t n = cJSON_IsArray(runs) ? (size_t)cJSON_GetArraySize(runs) : 0;
    if (!cJSON_IsArray(runs))
        bs_problem(&batch->decoder, "/runs",
                   "must be an array of {\"after_ms\": 0, \"request\": {...}}");
    batch->items = calloc(n + 1, sizeof *batch->items);
    if (batch->items == NULL) {
        batch->decoder.out_of_memory = true;
        return;
    }
    const cJSON *entry = NULL;
    cJSON_ArrayForEach(entry, runs) {
        struct batch_run *item = &batch->items[batch->n];
        item->inside = batch->inside;
        decode_batch_run(&batch->decoder, entry, batch->n, item);
        batch->n++;
    }
}

/* Open one session for all runs. Before this, refuse a request whose directory lies outside of the
 * session. */
static int open_session(struct batch *batch, struct bs_error *err) {
    int code = BS_OK;
    for (size_t i = 0; code == BS_OK && i < batch->n; i++)
        code = bs_inside_place(batch->inside, &batch->items[i].request, err);
    return code == BS_OK ? bs_inside_open(batch->inside, err) : code;
}

static void put_runs(struct batch *batch, struct bs_json_writer *out) {
    bs_json_open_object(out);
    bs_json_put_key(out, "runs");
    bs_json_open_array(out);
    for (size_t i = 0; i < batch->n; i++) {
        struct batch_run *item = &batch->items[i];
        bs_json_open_object(out);
        if (item->code == BS_OK) {
            bs_json_put_key(out, "result");
            bs_json_open_object(out);
            bs_put_result(out, &item->result);
            bs_inside_put(batch->inside, out);
            bs_json_close_object(out);
        } else {
            bs_put_error(out, item->code, item->err.message);
        }
        bs_json_close_object(out);
    }
    bs_json_close_array(out);
    bs_json_close_object(out);
}

static void batch_clear(struct batch *batch) {
    for (size_t i = 0; i < batch->n; i++) {
        bs_exec_result_clear(&batch->items[i].result);
        bs_decoder_clear(&batch->items[i].decoder);
    }
    free(batch->items);
    bs_inside_close(batch->inside);
    bs_decoder_clear(&batch->decoder);
}

enum bs_answer bs_op_exec_batch(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id", "op", "runs", "hold", "backend", NULL};
    struct batch batch = {.n = 0};
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&batch.decoder, call->request, "", known);
    batch.inside = bs_inside_decode(&batch.decoder, call->request, false);
    decode_runs(&batch, call->request);
    if (bs_decoder_failed(&batch.decoder)) {
        answer = bs_answer_problems(out, call->id, &batch.decoder);
        goto finish;
    }
    int code = open_session(&batch, &err);
    if (code != BS_OK) {
        answer = bs_answer_error(out, call->id, code, err.message);
        goto finish;
    }
    start_all(batch.items, batch.n);
    bs_answer_open(out, call->id, "result");
    put_runs(&batch, out);
    bs_answer_close(out);
finish:
    batch_clear(&batch);
    return answer;
}
