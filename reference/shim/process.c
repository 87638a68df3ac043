#define _GNU_SOURCE
#include <boxspec/process.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sys.h"
#include "shim/ops.h"
#include "shim/process_step.h"

struct script_thread {
    const char *name;
    struct script *script;
    sem_t handed; /* steps that may be taken */
    pthread_t thread;
    bool runs;
};

struct script {
    struct bs_decoder decoder;
    struct bs_script_handle *handles;
    size_t n_handles;
    struct bs_script_step *steps;
    size_t n_steps;
    struct script_thread *threads;
    size_t n_threads;
};

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* A number that is no mode goes through: to refuse it is the library's part. */
static enum bs_stdio_mode decode_mode(struct bs_decoder *decoder, const cJSON *object,
                                      const char *pointer, const char *name) {
    uint64_t mode = BS_STDIO_PIPED;
    (void)bs_decode_u64(decoder, object, pointer, name, &mode);
    return (enum bs_stdio_mode)(mode > 255 ? 255 : mode);
}

static void decode_handle(struct bs_decoder *decoder, const cJSON *item,
                          struct bs_script_handle *handle) {
    static const char *const known[] = {"request", "stdin",       "stdout",
                                        "stderr",  "nonblocking", NULL};
    char at[BS_POINTER_MOST];
    char request_at[BS_POINTER_MOST];
    (void)bs_below(at, "/handles", item->string);
    handle->name = item->string;
    handle->taken[0] = handle->taken[1] = handle->taken[2] = -1;
    bs_refuse_unknown(decoder, item, at, known);
    bs_decode_request(decoder, member(item, "request"), bs_below(request_at, at, "request"),
                      &handle->request);
    handle->stdio.in = decode_mode(decoder, item, at, "stdin");
    handle->stdio.out = decode_mode(decoder, item, at, "stdout");
    handle->stdio.err = decode_mode(decoder, item, at, "stderr");
    handle->stdio.nonblocking = bs_decode_bool(decoder, item, at, "nonblocking");
}

static int stream_number(const cJSON *item) {
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    for (int i = 0; i < 3; i++) {
        if (bs_is_word(item, names[i]))
            return i;
    }
    return -1;
}

static void decode_repeat(struct script *script, const cJSON *item, const char *at,
                          struct bs_script_step *step);

static void decode_step(struct script *script, const cJSON *item, const char *at,
                        struct bs_script_step *step) {
    static const char *const known[] = {"handle",   "thread", "step",      "stream",     "data",
                                        "data_b64", "until",  "until_b64", "timeout_ms", "grace_ms",
                                        "count",    "steps",  NULL};
    struct bs_decoder *decoder = &script->decoder;
    char data_at[BS_POINTER_MOST];
    bool base64 = false;
    uint64_t ms = 0;
    bs_refuse_unknown(decoder, item, at, known);
    step->kind = BS_STEP_KINDS;
    for (int i = 0; i < BS_STEP_KINDS; i++) {
        if (bs_is_word(member(item, "step"), bs_step_names[i]))
            step->kind = (enum bs_step_kind)i;
    }
    if (step->kind == BS_STEP_KINDS)
        bs_problem(decoder, at, "`step` is missing, or is none");
    for (size_t i = 0; i < script->n_handles; i++) {
        if (bs_is_word(member(item, "handle"), script->handles[i].name))
            step->handle = &script->handles[i];
    }
    step->thread = bs_decode_text(decoder, item, at, "thread", step->kind == BS_STEP_JOIN);
    if (step->kind == BS_STEP_REPEAT) {
        decode_repeat(script, item, at, step);
        return;
    }
    if (step->handle == NULL && step->kind != BS_STEP_JOIN)
        bs_problem(decoder, at, "`handle` names none of /handles");
    step->stream = stream_number(member(item, "stream"));
    bool writes = step->kind == BS_STEP_WRITE;
    bool reads = step->kind == BS_STEP_READ_UNTIL || step->kind == BS_STEP_READ_EOF;
    if (writes)
        step->stream = 0;
    if ((reads || step->kind == BS_STEP_TAKE) && step->stream < 0)
        bs_problem(decoder, at, "`stream` must be \"stdin\", \"stdout\" or \"stderr\"");
    const cJSON *data =
        bs_decode_twin(decoder, item, at, writes ? "data" : "until", &base64, data_at);
    if (data != NULL)
        step->data = bs_decode_bytes(decoder, data, data_at, base64, &step->data_len);
    if ((writes || step->kind == BS_STEP_READ_UNTIL) && data == NULL)
        bs_problem(decoder, at, "`%s` is missing", writes ? "data" : "until");
    const char *limit = step->kind == BS_STEP_CLOSE ? "grace_ms" : "timeout_ms";
    if (bs_decode_u64(decoder, item, at, limit, &ms)) {
        uint64_t *kept = bs_decoder_keep(decoder, malloc(sizeof *kept));
        if (kept != NULL)
            *kept = ms;
        step->ms = kept;
    }
}

/* One level of it, on the thread of the repeat. */
static void decode_repeat(struct script *script, const cJSON *item, const char *at,
                          struct bs_script_step *step) {
    struct bs_decoder *decoder = &script->decoder;
    const cJSON *steps = member(item, "steps");
    const cJSON *each = NULL;
    if (!bs_decode_u64(decoder, item, at, "count", &step->count))
        bs_problem(decoder, at, "`count` is missing, or is no number");
    if (!cJSON_IsArray(steps)) {
        bs_problem(decoder, at, "`steps` is missing, or is no array");
        return;
    }
    step->inner = bs_decoder_keep(
        decoder, calloc((size_t)cJSON_GetArraySize(steps) + 1, sizeof *step->inner));
    if (step->inner == NULL)
        return;
    cJSON_ArrayForEach(each, steps) {
        char inner_at[BS_POINTER_MOST];
        char below[BS_POINTER_MOST];
        struct bs_script_step *inner = &step->inner[step->n_inner];
        (void)bs_below_index(inner_at, bs_below(below, at, "steps"), step->n_inner);
        step->n_inner++;
        if (bs_is_word(member(each, "step"), "repeat") ||
            bs_is_word(member(each, "step"), "join")) {
            bs_problem(decoder, inner_at, "`join` and `repeat` cannot be repeated");
            continue;
        }
        decode_step(script, each, inner_at, inner);
        if (inner->thread != NULL)
            bs_problem(decoder, inner_at, "`thread` is the repeat's to name");
    }
}

static struct script_thread *thread_of(struct script *script, const char *name) {
    for (size_t i = 0; i < script->n_threads; i++) {
        if (strcmp(script->threads[i].name, name) == 0)
            return &script->threads[i];
    }
    struct script_thread *made = &script->threads[script->n_threads++];
    made->name = name;
    made->script = script;
    return made;
}

static void decode(struct script *script, const cJSON *request) {
    struct bs_decoder *decoder = &script->decoder;
    const cJSON *handles = member(request, "handles");
    const cJSON *steps = member(request, "steps");
    if (!cJSON_IsObject(handles) || !cJSON_IsArray(steps)) {
        bs_problem(decoder, "", "an object `handles` and an array `steps` are wanted");
        return;
    }
    size_t n_handles = (size_t)cJSON_GetArraySize(handles);
    size_t n_steps = (size_t)cJSON_GetArraySize(steps);
    script->handles = bs_decoder_keep(decoder, calloc(n_handles + 1, sizeof *script->handles));
    script->steps = bs_decoder_keep(decoder, calloc(n_steps + 1, sizeof *script->steps));
    script->threads = bs_decoder_keep(decoder, calloc(n_steps + 1, sizeof *script->threads));
    if (script->handles == NULL || script->steps == NULL || script->threads == NULL)
        return;
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, handles)
        decode_handle(decoder, item, &script->handles[script->n_handles++]);
    cJSON_ArrayForEach(item, steps) {
        char at[BS_POINTER_MOST];
        struct bs_script_step *step = &script->steps[script->n_steps];
        decode_step(script, item, bs_below_index(at, "/steps", script->n_steps), step);
        script->n_steps++;
    }
    bs_refuse_nul(decoder);
    for (size_t i = 0; i < script->n_steps && !bs_decoder_failed(decoder); i++) {
        if (script->steps[i].thread != NULL)
            (void)thread_of(script, script->steps[i].thread);
    }
}

static bool is_on(const struct bs_script_step *step, const char *thread) {
    return step->kind != BS_STEP_JOIN && step->thread != NULL && strcmp(step->thread, thread) == 0;
}

/* Takes its own steps in their order, each when the script has come to it. */
static void *take_steps(void *arg) {
    struct script_thread *thread = arg;
    for (size_t i = 0; i < thread->script->n_steps; i++) {
        struct bs_script_step *step = &thread->script->steps[i];
        if (!is_on(step, thread->name))
            continue;
        while (sem_wait(&thread->handed) != 0) {
        }
        bs_script_step_take(step);
    }
    return NULL;
}

static int start_threads(struct script *script, struct bs_error *err) {
    for (size_t i = 0; i < script->n_threads; i++) {
        struct script_thread *thread = &script->threads[i];
        (void)sem_init(&thread->handed, 0, 0);
        int os_error = pthread_create(&thread->thread, NULL, take_steps, thread);
        thread->runs = os_error == 0;
        if (os_error != 0)
            return bs_fail(err, BS_E_IO, os_error, "a thread of the script cannot be started");
    }
    return BS_OK;
}

static void join(struct script_thread *thread) {
    if (thread == NULL || !thread->runs)
        return;
    (void)pthread_join(thread->thread, NULL);
    thread->runs = false;
}

static void take_all(struct script *script) {
    for (size_t i = 0; i < script->n_steps; i++) {
        struct bs_script_step *step = &script->steps[i];
        struct script_thread *thread =
            step->thread != NULL ? thread_of(script, step->thread) : NULL;
        if (step->kind == BS_STEP_JOIN) {
            join(thread);
            bs_buf_str(&step->result, "{}");
        } else if (thread != NULL) {
            (void)sem_post(&thread->handed);
        } else {
            bs_script_step_take(step);
        }
    }
}

/* A join that waits for a step behind it would wait for ever. */
static void check_joins(struct script *script) {
    for (size_t i = 0; i < script->n_steps; i++) {
        for (size_t j = i + 1; script->steps[i].kind == BS_STEP_JOIN && j < script->n_steps; j++) {
            if (is_on(&script->steps[j], script->steps[i].thread))
                bs_problem(&script->decoder, "/steps", "a thread has a step behind its join");
        }
    }
}

static void script_clear(struct script *script) {
    for (size_t i = 0; i < script->n_threads; i++) {
        for (size_t j = 0; j < script->n_steps && script->threads[i].runs; j++)
            (void)sem_post(&script->threads[i].handed);
        join(&script->threads[i]);
    }
    for (size_t i = 0; i < script->n_handles; i++) {
        bs_process_drop(script->handles[i].process);
        for (int stream = 0; stream < 3; stream++)
            bs_close(&script->handles[i].taken[stream]);
    }
    for (size_t i = 0; i < script->n_steps; i++) {
        for (size_t j = 0; j < script->steps[i].n_inner; j++)
            bs_buf_clear(&script->steps[i].inner[j].result);
        bs_buf_clear(&script->steps[i].result);
    }
    bs_decoder_clear(&script->decoder);
}

enum bs_answer bs_op_process_script(const struct bs_call *call, struct bs_buf *out) {
    static const char *const known[] = {"id", "op", "handles", "steps", "hold", NULL};
    struct script script = {.n_steps = 0};
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&script.decoder, call->request, "", known);
    decode(&script, call->request);
    if (!bs_decoder_failed(&script.decoder))
        check_joins(&script);
    if (bs_decoder_failed(&script.decoder)) {
        script.n_threads = 0;
        answer = bs_answer_problems(out, call->id, &script.decoder);
        goto finish;
    }
    /* A write to a child that has gone is a step's result. */
    (void)signal(SIGPIPE, SIG_IGN);
    int code = start_threads(&script, &err);
    if (code != BS_OK) {
        answer = bs_answer_error(out, call->id, code, &err);
        goto finish;
    }
    take_all(&script);
    for (size_t i = 0; i < script.n_threads; i++)
        join(&script.threads[i]);
    bs_answer_open(out, call->id, "result");
    bs_buf_str(out, "{\"steps\":[");
    for (size_t i = 0; i < script.n_steps; i++) {
        if (i > 0)
            bs_buf_char(out, ',');
        bs_buf_add(out, script.steps[i].result.data, script.steps[i].result.len);
        out->failed |= script.steps[i].result.failed;
    }
    bs_buf_str(out, "]}");
    bs_answer_close(out);
finish:
    script_clear(&script);
    return answer;
}

enum bs_answer bs_op_process_bridge(const struct bs_call *call, struct bs_buf *out) {
    static const char *const known[] = {"id", "op", "request", "hold", NULL};
    struct bs_decoder decoder = {0};
    struct bs_exec_request request;
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
    bs_decode_request(&decoder, member(call->request, "request"), "/request", &request);
    bs_refuse_nul(&decoder);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    int code = bs_process_bridge(&request, NULL, &end, &err);
    if (code == BS_OK) {
        bs_answer_open(out, call->id, "result");
        bs_buf_char(out, '{');
        bs_put_end(out, &end);
        bs_buf_char(out, '}');
        bs_answer_close(out);
    } else {
        answer = bs_answer_error(out, call->id, code, &err);
    }
finish:
    bs_decoder_clear(&decoder);
    return answer;
}
