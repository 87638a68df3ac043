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
#include "shim/exec_request.h"
#include "shim/inside.h"
#include "shim/ops.h"
#include "shim/process_request.h"

/* Run the steps of one thread in order. Each step waits until the main thread permits it. */
static void *run_steps(void *arg) {
    struct bs_script_thread *thread = arg;
    for (size_t i = 0; i < thread->script->n_steps; i++) {
        struct bs_script_step *step = &thread->script->steps[i];
        if (!bs_script_is_on(step, thread->name))
            continue;
        while (sem_wait(&thread->handed) != 0) {
        }
        bs_script_step_run(step);
    }
    return NULL;
}

static int start_threads(struct bs_script *script, struct bs_error *err) {
    for (size_t i = 0; i < script->n_threads; i++) {
        struct bs_script_thread *thread = &script->threads[i];
        (void)sem_init(&thread->handed, 0, 0);
        int os_error = pthread_create(&thread->thread, NULL, run_steps, thread);
        thread->runs = os_error == 0;
        if (os_error != 0)
            return bs_fail(err, BS_E_IO, os_error, "a thread of the script cannot be started");
    }
    return BS_OK;
}

static void join(struct bs_script_thread *thread) {
    if (thread == NULL || !thread->runs)
        return;
    (void)pthread_join(thread->thread, NULL);
    thread->runs = false;
}

static void run_all(struct bs_script *script) {
    for (size_t i = 0; i < script->n_steps; i++) {
        struct bs_script_step *step = &script->steps[i];
        struct bs_script_thread *thread =
            step->thread != NULL ? bs_script_thread_of(script, step->thread) : NULL;
        if (step->kind == BS_STEP_JOIN) {
            join(thread);
            bs_json_open_object(&step->result);
            bs_json_close_object(&step->result);
        } else if (thread != NULL) {
            (void)sem_post(&thread->handed);
        } else {
            bs_script_step_run(step);
        }
    }
}

static void script_clear(struct bs_script *script) {
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
            bs_json_writer_clear(&script->steps[i].inner[j].result);
        bs_json_writer_clear(&script->steps[i].result);
    }
    bs_decoder_clear(&script->decoder);
}

/* Open one session for all handles. Before this, refuse a handle whose directory lies outside of
 * the session. */
static int go_inside(struct bs_script *script, struct bs_inside *inside, struct bs_error *err) {
    int code = BS_OK;
    for (size_t i = 0; code == BS_OK && i < script->n_handles; i++)
        code = bs_inside_place(inside, &script->handles[i].request, err);
    if (code == BS_OK)
        code = bs_inside_open(inside, err);
    for (size_t i = 0; code == BS_OK && i < script->n_handles; i++) {
        script->handles[i].sandbox = bs_inside_sandbox(inside);
        code = bs_inside_place(inside, &script->handles[i].request, err);
    }
    return code;
}

enum bs_answer bs_op_process_script(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id", "op", "handles", "steps", "backend", "hold", NULL};
    struct bs_script script = {.n_steps = 0};
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&script.decoder, call->request, "", known);
    struct bs_inside *inside = bs_inside_decode(&script.decoder, call->request, false);
    bs_script_decode(&script, call->request);
    if (bs_decoder_failed(&script.decoder)) {
        script.n_threads = 0;
        answer = bs_answer_problems(out, call->id, &script.decoder);
        goto finish;
    }
    /* Ignore SIGPIPE. Writing to a child that has exited must be an error of the step, and must not
     * end the shim. */
    (void)signal(SIGPIPE, SIG_IGN);
    int code = go_inside(&script, inside, &err);
    if (code == BS_OK)
        code = start_threads(&script, &err);
    if (code != BS_OK) {
        answer = bs_answer_error(out, call->id, code, err.message);
        goto finish;
    }
    run_all(&script);
    for (size_t i = 0; i < script.n_threads; i++)
        join(&script.threads[i]);
    bs_answer_open(out, call->id, "result");
    bs_json_open_object(out);
    bs_json_put_key(out, "steps");
    bs_json_open_array(out);
    for (size_t i = 0; i < script.n_steps; i++)
        bs_json_put_written(out, &script.steps[i].result);
    bs_json_close_array(out);
    bs_inside_put(inside, out);
    bs_json_close_object(out);
    bs_answer_close(out);
finish:
    script_clear(&script);
    bs_inside_close(inside);
    return answer;
}

enum bs_answer bs_op_process_bridge(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id", "op", "request", "backend", "hold", NULL};
    struct bs_decoder decoder = {0};
    struct bs_exec_request request;
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
    struct bs_inside *inside = bs_inside_decode(&decoder, call->request, false);
    bs_decode_request(&decoder, cJSON_GetObjectItemCaseSensitive(call->request, "request"),
                      "/request", &request);
    bs_refuse_nul(&decoder);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    int code = bs_inside_place(inside, &request, &err);
    if (code == BS_OK)
        code = bs_inside_open(inside, &err);
    if (code == BS_OK)
        code = bs_inside_place(inside, &request, &err);
    if (code == BS_OK)
        code = bs_process_bridge(&request, bs_inside_sandbox(inside), &end, &err);
    if (code == BS_OK) {
        bs_answer_open(out, call->id, "result");
        bs_json_open_object(out);
        bs_put_end(out, &end);
        bs_inside_put(inside, out);
        bs_json_close_object(out);
        bs_answer_close(out);
    } else {
        answer = bs_answer_error(out, call->id, code, err.message);
    }
finish:
    bs_inside_close(inside);
    bs_decoder_clear(&decoder);
    return answer;
}
