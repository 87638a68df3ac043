#define _GNU_SOURCE
#include "backend/session/timed_call.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>

#include "backend/session/context_ref.h"
#include "base/error.h"
#include "base/sys.h"

/* How long a cancelled call may take to return. */
enum { CANCELLED_MS = 1000 };

struct worker {
    struct bs_timed_call call;
    /* a copy, because a detached call may outlive the struct of the caller */
    struct bs_backend backend;
    int cancel[2]; /* a pipe; the caller closes [1] to cancel the call */
    int done[2];   /* a pipe; the thread closes [1] when the call has returned */
    /* Protects the next two fields. The caller sets `detached` and the thread sets `finished`; the
     * last of the two frees the struct. */
    pthread_mutex_t lock;
    bool detached;
    bool finished;
};

static void free_worker(struct worker *worker) {
    bs_close(&worker->cancel[0]);
    bs_close(&worker->cancel[1]);
    bs_close(&worker->done[0]);
    bs_close(&worker->done[1]);
    bs_context_ref_release(worker->call.context);
    (void)pthread_mutex_destroy(&worker->lock);
    free(worker);
}

static void *work(void *arg) {
    struct worker *worker = arg;
    struct bs_timed_call *call = &worker->call;
    const struct bs_backend *backend = &worker->backend;
    const struct bs_backend_context *context = bs_context_ref_get(call->context);
    if (call->prepares)
        call->code = backend->prepare(backend->ctx, context, worker->cancel[0], &call->state,
                                      &call->report, &call->err);
    else
        call->code =
            backend->probe(backend->ctx, context, worker->cancel[0], &call->report, &call->err);
    (void)pthread_mutex_lock(&worker->lock);
    worker->finished = true;
    bool detached = worker->detached;
    bs_close(&worker->done[1]);
    (void)pthread_mutex_unlock(&worker->lock);
    if (detached) {
        bs_backend_report_clear(&call->report);
        if (call->prepares && backend->shutdown != NULL)
            (void)backend->shutdown(backend->ctx, call->state, NULL);
        free_worker(worker);
    }
    return NULL;
}

/* Wait until `fd` is readable. Returns false if `other` is readable first, or if the time is
 * over. */
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

static int fail(struct bs_timed_call *call, int os_error, const char *what) {
    char buf[128];
    return bs_fail(&call->err, BS_E_EXECUTION, os_error, "%s of the backend `%.60s`: %s",
                   call->prepares ? "prepare" : "probe", call->backend->name,
                   what != NULL ? what : bs_os_message(os_error, buf, sizeof buf));
}

static struct worker *start(const struct bs_timed_call *call, pthread_t *thread, int *os_error) {
    struct worker *worker = calloc(1, sizeof *worker);
    *os_error = ENOMEM;
    if (worker == NULL)
        return NULL;
    worker->call = *call;
    worker->call.context = bs_context_ref_acquire(call->context);
    worker->backend = *call->backend;
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

void bs_timed_call_run(struct bs_timed_call *call, uint64_t until, int cancel) {
    pthread_t thread = 0;
    int os_error = 0;
    struct worker *worker = start(call, &thread, &os_error);
    if (worker == NULL) {
        call->code = fail(call, os_error, NULL);
        return;
    }
    bool cancelled = !wait_for(worker->done[0], cancel, until);
    if (cancelled) {
        bs_close(&worker->cancel[1]);
        (void)wait_for(worker->done[0], -1, bs_after_ms(bs_now_ns(), CANCELLED_MS));
    }
    (void)pthread_mutex_lock(&worker->lock);
    bool finished = worker->finished;
    worker->detached = !finished;
    (void)pthread_mutex_unlock(&worker->lock);
    if (!finished) {
        (void)pthread_detach(thread);
        call->code = fail(call, ETIMEDOUT, "did not return, even after it was cancelled");
        return;
    }
    (void)pthread_join(thread, NULL);
    *call = worker->call;
    free_worker(worker);
    if (cancelled && call->code == BS_OK)
        call->code = BS_E_EXECUTION;
    if (cancelled)
        (void)fail(call, ETIMEDOUT, "did not return in time and was cancelled");
}
