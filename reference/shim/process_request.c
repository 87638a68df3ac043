#define _GNU_SOURCE
#include "shim/process_request.h"

#include <stdlib.h>
#include <string.h>

#include "shim/exec_request.h"

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Pass on an unknown mode, so that the library refuses it. */
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
    (void)pthread_mutex_init(&handle->writing, NULL);
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

static void decode_repeat(struct bs_script *script, const cJSON *item, const char *at,
                          struct bs_script_step *step);

static void decode_step(struct bs_script *script, const cJSON *item, const char *at,
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
        bs_problem(decoder, at, "`step` is missing or unknown");
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
        bs_problem(decoder, at, "`handle` is not a name in /handles");
    step->stream = stream_number(member(item, "stream"));
    bool writes = step->kind == BS_STEP_WRITE;
    bool reads = step->kind == BS_STEP_READ_UNTIL || step->kind == BS_STEP_READ_EOF;
    if (writes)
        step->stream = 0;
    if ((reads || step->kind == BS_STEP_TAKE) && step->stream < 0)
        bs_problem(decoder, at, "`stream` must be \"stdin\", \"stdout\" or \"stderr\"");
    const cJSON *data =
        bs_decode_either(decoder, item, at, writes ? "data" : "until", &base64, data_at);
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

/* Decode a repeat. Its inner steps run on the same thread as the repeat, and cannot contain another
 * repeat. */
static void decode_repeat(struct bs_script *script, const cJSON *item, const char *at,
                          struct bs_script_step *step) {
    struct bs_decoder *decoder = &script->decoder;
    const cJSON *steps = member(item, "steps");
    const cJSON *each = NULL;
    if (!bs_decode_u64(decoder, item, at, "count", &step->count))
        bs_problem(decoder, at, "`count` is missing, or is not a number");
    if (!cJSON_IsArray(steps)) {
        bs_problem(decoder, at, "`steps` is missing, or is not an array");
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
            bs_problem(decoder, inner_at, "give `thread` to the repeat, not to its steps");
    }
}

struct bs_script_thread *bs_script_thread_of(struct bs_script *script, const char *name) {
    for (size_t i = 0; i < script->n_threads; i++) {
        if (strcmp(script->threads[i].name, name) == 0)
            return &script->threads[i];
    }
    struct bs_script_thread *made = &script->threads[script->n_threads++];
    made->name = name;
    made->script = script;
    return made;
}

static void decode_all(struct bs_script *script, const cJSON *request) {
    struct bs_decoder *decoder = &script->decoder;
    const cJSON *handles = member(request, "handles");
    const cJSON *steps = member(request, "steps");
    if (!cJSON_IsObject(handles) || !cJSON_IsArray(steps)) {
        bs_problem(decoder, "", "an object `handles` and an array `steps` are required");
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
            (void)bs_script_thread_of(script, script->steps[i].thread);
    }
}

bool bs_script_is_on(const struct bs_script_step *step, const char *thread) {
    return step->kind != BS_STEP_JOIN && step->thread != NULL && strcmp(step->thread, thread) == 0;
}

/* Report a join that waits for a later step of its own thread, because it would wait for ever. */
static void check_joins(struct bs_script *script) {
    for (size_t i = 0; i < script->n_steps; i++) {
        for (size_t j = i + 1; script->steps[i].kind == BS_STEP_JOIN && j < script->n_steps; j++) {
            if (bs_script_is_on(&script->steps[j], script->steps[i].thread))
                bs_problem(&script->decoder, "/steps", "a thread has a step after its join");
        }
    }
}

void bs_script_decode(struct bs_script *script, const cJSON *request) {
    decode_all(script, request);
    if (!bs_decoder_failed(&script->decoder))
        check_joins(script);
}
