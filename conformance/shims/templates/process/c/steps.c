/* The steps of a script on one handle. This file needs no change. */
#include "shim.h"

#include <signal.h>
#include <string.h>

static int stream_of(const cJSON *step) {
    const char *name = string(step, "stream");
    return !name || strcmp(name, "stdin") == 0 ? 0 : strcmp(name, "stdout") == 0 ? 1 : 2;
}

static cJSON *streams(const struct handle *h) {
    cJSON *told = cJSON_CreateObject();
    cJSON_AddBoolToObject(told, "stdin", h->owned[0]);
    cJSON_AddBoolToObject(told, "stdout", h->owned[1]);
    cJSON_AddBoolToObject(told, "stderr", h->owned[2]);
    return told;
}

static cJSON *take(struct handle *h, int at) {
    cJSON *told = cJSON_CreateObject();
    pthread_mutex_lock(&h->lock);
    cJSON_AddBoolToObject(told, "taken", h->owned[at]);
    h->owned[at] = false;
    pthread_mutex_unlock(&h->lock);
    return told;
}

static cJSON *wait_for(struct handle *h, const cJSON *limit) {
    if (!limit && h->owned[0])
        close_stream(h, 0);
    return handle_wait(h, limit ? &limit->valuedouble : NULL);
}

static cJSON *close_all(struct handle *h, const cJSON *grace) {
    handle_signal(h, SIGTERM);
    handle_wait(h, grace ? &grace->valuedouble : &(double){5000});
    handle_signal(h, SIGKILL);
    cJSON *told = handle_wait(h, NULL);
    for (int at = 0; at < 3; at++) {
        if (h->owned[at])
            close_stream(h, at);
        h->owned[at] = false;
    }
    cJSON_AddFalseToObject(told, "detached_writers");
    return told;
}

cJSON *handle_step(struct handle *h, const cJSON *step) {
    const char *what = string(step, "step");
    int at = stream_of(step);
    if (strcmp(what, "open") == 0)
        return handle_open(h);
    if (strcmp(what, "drop") == 0)
        return handle_drop(h);
    if (!h->child)
        return failed("invalid_input", "the handle is not open");
    if (strcmp(what, "streams") == 0)
        return streams(h);
    if (strcmp(what, "take") == 0)
        return take(h, at);
    if (strcmp(what, "write") == 0)
        return write_all(h, content(step, "data"));
    if (strcmp(what, "read_until") == 0)
        return read_all(h->pipes[at], &(struct bytes[]){content(step, "until")}[0]);
    if (strcmp(what, "read_eof") == 0)
        return read_all(h->pipes[at], NULL);
    if (strcmp(what, "close_stdin") == 0)
        return close_stream(h, 0), cJSON_CreateObject();
    if (strcmp(what, "poll") == 0)
        return handle_wait(h, &(double){0});
    if (strcmp(what, "wait") == 0)
        return wait_for(h, field(step, "timeout_ms"));
    if (strcmp(what, "terminate") == 0 || strcmp(what, "kill") == 0)
        return handle_signal(h, strcmp(what, "kill") == 0 ? SIGKILL : SIGTERM);
    if (strcmp(what, "close") == 0)
        return close_all(h, field(step, "grace_ms"));
    return failed("invalid_input", format("there is no step %s", what));
}
