/* Wait for the end of a program. Your own function replaces this file. */
#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static const char *signal_name(int number) {
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGSEGV, "SIGSEGV"},
        {SIGABRT, "SIGABRT"}, {SIGPIPE, "SIGPIPE"}, {SIGHUP, "SIGHUP"},   {SIGUSR1, "SIGUSR1"},
        {SIGUSR2, "SIGUSR2"}, {SIGQUIT, "SIGQUIT"}, {SIGALRM, "SIGALRM"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return format("SIG%d", number);
}

/* Wait until the limit; without one until the end. */
cJSON *handle_wait(struct handle *h, const double *limit_ms) {
    struct timespec until;
    int why = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double s = (limit_ms && *limit_ms < 1e12 ? *limit_ms : 1e12) / 1e3;
    until.tv_sec += (time_t)s;
    until.tv_nsec += (long)((s - (double)(time_t)s) * 1e9);
    if (until.tv_nsec >= 1000000000)
        until.tv_nsec -= 1000000000, until.tv_sec++;
    pthread_mutex_lock(&h->lock);
    while (!h->ended && why != ETIMEDOUT)
        why = pthread_cond_timedwait(&h->end, &h->lock, &until);
    bool ended = h->ended;
    int status = h->status;
    pthread_mutex_unlock(&h->lock);
    cJSON *told = cJSON_CreateObject();
    if (!ended)
        cJSON_AddTrueToObject(told, "running");
    else if (WIFSIGNALED(status))
        cJSON_AddStringToObject(told, "signaled", signal_name(WTERMSIG(status)));
    else
        cJSON_AddNumberToObject(told, "exited", WEXITSTATUS(status));
    return told;
}
