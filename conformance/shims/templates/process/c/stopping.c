/* Stop a program with its whole group. Your own function replaces this file. */
#define _GNU_SOURCE
#include "shim.h"

#include <time.h>

enum { GRACE_MS = 1500 };

void handle_stop(struct handle *h) {
    static const struct timespec tick = {.tv_nsec = 10000000};
    pthread_mutex_lock(&h->lock);
    bool running = !h->ended;
    h->stopping = true;
    if (running) {
        kill(-h->child, SIGTERM);
        kill(-h->child, SIGCONT); /* a stopped process handles no signal */
    }
    pthread_mutex_unlock(&h->lock);
    double until = now_ms() + GRACE_MS;
    /* The thread in handle.c reaps the leader, so the signal 0 fails after the last member's end.
     */
    while (running && kill(-h->child, 0) == 0 && now_ms() < until)
        nanosleep(&tick, NULL);
    if (running)
        kill(-h->child, SIGKILL);
}
