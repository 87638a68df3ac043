#define _GNU_SOURCE
#include "backend/session/timed_call.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>

#include "backend/internal.h"
#include "base/error.h"
#include "base/sys.h"

/* How long a call has after it was told. */
enum { HEED_MS = 1000 };

struct worker {
    struct bs_ask ask;
    struct bs_backend backend; /* a copy, as the caller's own may be gone before this ends */
    int cancel[2];             /* closing [1] is the word */
    int done[2];
    pthread_mutex_t lock;
    bool abandoned; /* by who waits; whoever comes last frees */
    bool finished;
};

static void free_worker(struct worker *worker) {
    bs_close(&worker->cancel[0]);
    bs_close(&worker->cancel[1]);
    bs_close(&worker->done[0]);
    bs_close(&worker->done[1]);
    bs_context_let_go(worker->ask.context);
    (void)pthread_mutex_destroy(&worker->lock);
    free(worker);
}

static void *work(void *arg) {
    struct worker *worker = arg;
    struct bs_ask *ask = &worker->ask;
    const struct bs_backend *backend = &worker->backend;
    const struct bs_backend_context *context = bs_kept_context(ask->context);
    if (ask->prepares)
        ask->code = backend->prepare(backend->ctx, context, worker->cancel[0], &ask->state,
                                     &ask->report, &ask->err);
    else
        ask->code =
            backend->probe(backend->ctx, context, worker->cancel[0], &ask->report, &ask->err);
    (void)pthread_mutex_lock(&worker->lock);
    worker->finished = true;
    bool last = worker->abandoned;
    bs_close(&worker->done[1]);
    (void)pthread_mutex_unlock(&worker->lock);
    if (last) {
        bs_backend_report_clear(&ask->report);
        if (ask->prepares && backend->shutdown != NULL)
            (void)backend->shutdown(backend->ctx, ask->state, NULL);
        free_worker(worker);
    }
    return NULL;
}

static bool wait_for(int fd, int other, uint64_t until) {
    for (;;) {
        uint64_t now = bs_now_ns();
        struct pollfd set[] = {{fd, POLLIN, 0}, {other, POLLIN, 0}};
        if (now >= until)
            return false;
        int n = poll(set, 2, bs_poll_timeout(now, until));
        if (n > 0)
            return set[0].revents != 0;
        if (n < 0 && errno != EINTR)
            return false;
    }
}

static int fail(struct bs_ask *ask, int os_error, const char *what) {
    char buf[128];
    return bs_fail(&ask->err, BS_E_EXECUTION, os_error, "%s of the backend `%.60s`: %s",
                   ask->prepares ? "prepare" : "probe", ask->backend->name,
                   what != NULL ? what : bs_os_message(os_error, buf, sizeof buf));
}

static struct worker *start(const struct bs_ask *ask, pthread_t *thread, int *os_error) {
    struct worker *worker = calloc(1, sizeof *worker);
    *os_error = ENOMEM;
    if (worker == NULL)
        return NULL;
    worker->ask = *ask;
    worker->ask.context = bs_context_share(ask->context);
    worker->backend = *ask->backend;
    worker->cancel[0] = worker->cancel[1] = worker->done[0] = worker->done[1] = -1;
    (void)pthread_mutex_init(&worker->lock, NULL);
    *os_error = pipe2(worker->cancel, O_CLOEXEC) == 0 && pipe2(worker->done, O_CLOEXEC) == 0
                    ? pthread_create(thread, NULL, work, worker)
                    : errno;
    if (*os_error == 0)
        return worker;
    free_worker(worker);
    return NULL;
}

void bs_ask_run(struct bs_ask *ask, unsigned long long until, int cancel) {
    pthread_t thread = 0;
    int os_error = 0;
    struct worker *worker = start(ask, &thread, &os_error);
    if (worker == NULL) {
        ask->code = fail(ask, os_error, NULL);
        return;
    }
    bool late = !wait_for(worker->done[0], cancel, until);
    if (late)
        bs_close(&worker->cancel[1]);
    if (late)
        (void)wait_for(worker->done[0], -1, bs_after_ms(bs_now_ns(), HEED_MS));
    (void)pthread_mutex_lock(&worker->lock);
    bool finished = worker->finished;
    worker->abandoned = !finished;
    (void)pthread_mutex_unlock(&worker->lock);
    if (!finished) {
        (void)pthread_detach(thread);
        ask->code = fail(ask, ETIMEDOUT, "did not return, and not when it was told to");
        return;
    }
    (void)pthread_join(thread, NULL);
    *ask = worker->ask;
    free_worker(worker);
    if (late && ask->code == BS_OK)
        ask->code = BS_E_EXECUTION;
    if (late)
        (void)fail(ask, ETIMEDOUT, "did not return in time and was cancelled");
}
