/* A bridge: a program whose streams are connected with the shim's own. This file needs no change.
 */
#include "shim.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

/* A thread that copies one stream, or, without a source, waits for the end of the program. */
struct work {
    struct handle *h;
    int from, to;
    pthread_t thread, bridge;
};

static atomic_int working; /* the threads of both outputs and of the end that have not returned */

/* Wait until a descriptor is ready: the client may have put its ends in non-blocking mode. */
static void await(int fd, short events) {
    poll(&(struct pollfd){.fd = fd, .events = events}, 1, -1);
}

/* Copy every byte of one descriptor to another, until the source or the target ends. */
static void copy(const struct work *pair) {
    char data[1 << 16];
    ssize_t count, done = 0;
    while (done >= 0 &&
           (await(pair->from, POLLIN), (count = read(pair->from, data, sizeof data)) > 0)) {
        for (ssize_t at = 0; at < count && done >= 0; at += done) {
            await(pair->to, POLLOUT);
            done = write(pair->to, data + at, (size_t)(count - at));
            if (done < 0 && errno == EAGAIN)
                done = 0;
        }
    }
}

static void *work(void *given) {
    const struct work *mine = given;
    if (mine->from < 0)
        handle_wait(mine->h, NULL);
    else
        copy(mine);
    if (mine->from == 0)
        return close_stream(mine->h, 0), NULL;
    working--;
    pthread_kill(mine->bridge, SIGUSR1);
    return NULL;
}

cJSON *process_bridge(const cJSON *message) {
    static const struct timespec rest = {.tv_nsec = 500000000}; /* to read the rest of the pipes */
    struct handle *bridged = allocate(sizeof *bridged);
    static struct work threads[4]; /* the thread of stdin may outlive this call */
    cJSON *asked = cJSON_CreateObject();
    sigset_t wanted, mask;
    sigemptyset(&wanted), sigaddset(&wanted, SIGINT), sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &wanted, &mask); /* a signal waits until the program runs */
    cJSON_AddItemToObject(asked, "request", cJSON_Duplicate(field(message, "request"), true));
    signal(SIGPIPE, SIG_IGN);
    handle_init(bridged, asked);
    bridged->inherit = &mask;
    cJSON *opened = handle_open(bridged);
    if (field(opened, "error"))
        return opened;
    const int ends[4][2] = {
        {0, bridged->pipes[0]}, {bridged->pipes[1], 1}, {bridged->pipes[2], 2}, {-1, -1}};
    working = 3;
    for (int at = 0; at < 4; at++) {
        threads[at] = (struct work){bridged, ends[at][0], ends[at][1], 0, pthread_self()};
        pthread_create(&threads[at].thread, NULL, work, &threads[at]);
    }
    int number = SIGUSR1;
    while (number == SIGUSR1 && working > 0)
        sigwait(&wanted, &number);
    if (number != SIGUSR1) {
        handle_stop(bridged);
        while (working > 0 && sigtimedwait(&wanted, NULL, &rest) > 0) {
        }
        for (int at = 1; at < 3; at++)
            pthread_cancel(threads[at].thread); /* its client does not read */
    }
    for (int at = 1; at < 4; at++)
        pthread_join(threads[at].thread, NULL);
    return result(handle_wait(bridged, NULL));
}
