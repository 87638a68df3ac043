/* Take the steps of a script. This file needs no change. */
#include "script.h"

#include <signal.h>
#include <string.h>

bool is(const cJSON *step, const char *name, const char *value) {
    const char *given = string(step, name);
    return given && strcmp(given, value) == 0;
}

cJSON *take_step(struct script *script, const cJSON *step) {
    if (is(step, "step", "repeat")) {
        cJSON *told = cJSON_CreateObject(), *last = NULL;
        int count = 0;
        for (bool bad = false; !bad && count < field(step, "count")->valueint; count += !bad) {
            const cJSON *each;
            last = cJSON_CreateArray();
            cJSON_ArrayForEach(each, field(step, "steps")) {
                cJSON *done = take_step(script, each);
                bad = bad || field(done, "error");
                cJSON_AddItemToArray(last, done);
            }
        }
        cJSON_AddNumberToObject(told, "repeated", count);
        cJSON_AddItemToObject(told, "last", last ? last : cJSON_CreateArray());
        return told;
    }
    int at = 0;
    const cJSON *each;
    cJSON_ArrayForEach(each, script->names) {
        if (is(step, "handle", each->string))
            return handle_step(&script->handles[at], step);
        at++;
    }
    return failed("invalid_input", "there is no such handle");
}

cJSON *process_script(const cJSON *message) {
    struct script script = {.names = field(message, "handles"), .steps = field(message, "steps")};
    struct worker *workers = NULL;
    cJSON *told = cJSON_CreateObject(), *refused = NULL;
    const cJSON *each;
    int at = 0;
    signal(SIGPIPE, SIG_IGN);
    script.handles = allocate((size_t)cJSON_GetArraySize(script.names) * sizeof *script.handles);
    script.results = allocate((size_t)cJSON_GetArraySize(script.steps) * sizeof(cJSON *));
    pthread_mutex_init(&script.lock, NULL);
    pthread_cond_init(&script.step, NULL);
    cJSON_ArrayForEach(each, script.names) {
        if ((refused = refuse_others(each, "request stdin stdout stderr nonblocking", "process")))
            return refused;
        handle_init(&script.handles[at++], each);
    }
    at = 0;
    cJSON_ArrayForEach(each, script.steps) {
        const char *thread = string(each, "thread");
        reach(&script, at);
        struct worker *worker = thread ? worker_of(&script, &workers, thread) : NULL;
        if (is(each, "step", "join"))
            pthread_join(worker->thread, NULL), worker->joined = true;
        else if (!worker)
            script.results[at] = take_step(&script, each);
        at++;
    }
    for (struct worker *worker = workers; worker; worker = worker->next)
        if (!worker->joined)
            pthread_join(worker->thread, NULL);
    cJSON *results = cJSON_AddArrayToObject(told, "steps");
    for (int step = 0; step < at; step++)
        cJSON_AddItemToArray(results,
                             script.results[step] ? script.results[step] : cJSON_CreateObject());
    at = 0;
    cJSON_ArrayForEach(each, script.names) handle_drop(&script.handles[at++]);
    return result(told);
}
