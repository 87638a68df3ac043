/* FILL IN: one handle of your implementation. */
#define _GNU_SOURCE
#include "shim.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const NAMES[] = {"stdin", "stdout", "stderr"};

void handle_init(struct handle *h, const cJSON *asked) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    *h = (struct handle){.asked = asked, .pipes = {-1, -1, -1}};
    pthread_mutex_init(&h->lock, NULL);
    pthread_mutex_init(&h->writing, NULL);
    pthread_cond_init(&h->end, &clock);
}

void close_stream(struct handle *h, int at) {
    if (h->pipes[at] >= 0)
        close(h->pipes[at]);
    h->pipes[at] = -1;
}

/* The thread that waits for the child. It kills the rest of the group before it reaps the leader,
   because the kernel may then give the number of the group to another one. If a signal ends a
   bridge, the bridge kills the rest itself, after the grace period. */
static void *watch(void *given) {
    struct handle *h = given;
    siginfo_t ended;
    while (waitid(P_PID, (id_t)h->child, &ended, WEXITED | WNOWAIT) != 0) {
    }
    pthread_mutex_lock(&h->lock);
    if (!h->stopping)
        kill(-h->child, SIGKILL);
    waitpid(h->child, &h->status, 0);
    h->ended = true;
    pthread_cond_broadcast(&h->end);
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

cJSON *handle_open(struct handle *h) {
    const cJSON *request = field(h->asked, "request");
    int modes[3];
    if (h->child)
        return failed("invalid_input", "the handle is open");
    if (refuse_others(request, "program args current_dir env", "process"))
        return failed("invalid_input", "the request has a field that a process does not have");
    for (int at = 0; at < 3; at++) {
        const cJSON *mode = field(h->asked, NAMES[at]);
        modes[at] = mode ? mode->valueint : 1;
        if (modes[at] < 0 || modes[at] > 2)
            return failed("invalid_input", "a stream mode is 0, 1 or 2");
    }
    int why = start(h, request, modes);
    for (int at = 0; at < 3; at++) {
        h->owned[at] = !why && modes[at] == 1;
        if (why)
            close_stream(h, at);
        else if (cJSON_IsTrue(field(h->asked, "nonblocking")))
            fcntl(h->pipes[at], F_SETFL, O_NONBLOCK);
    }
    pthread_t watcher;
    h->ended = false;
    if (!why && (why = pthread_create(&watcher, NULL, watch, h)) == 0)
        pthread_detach(watcher);
    if (why)
        return failed("execution", strerror(why));
    cJSON *told = cJSON_CreateObject();
    cJSON_AddNumberToObject(told, "pid", h->child);
    return told;
}

cJSON *handle_signal(struct handle *h, int number) {
    pthread_mutex_lock(&h->lock);
    if (!h->ended)
        kill(-h->child, number);
    pthread_mutex_unlock(&h->lock);
    return cJSON_CreateObject();
}

cJSON *handle_drop(struct handle *h) {
    if (h->child) {
        handle_signal(h, SIGKILL);
        handle_wait(h, NULL);
    }
    for (int at = 0; at < 3; at++)
        close_stream(h, at), h->owned[at] = false;
    h->child = 0;
    return cJSON_CreateObject();
}
