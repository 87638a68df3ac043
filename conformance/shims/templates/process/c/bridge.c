/* A bridge: a program whose streams are connected with the shim's own. This file needs no change.
 */
#include "shim.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

struct copy {
    struct handle *h;
    int from, to;
};

/* Wait until a descriptor is ready: the client may have put its ends in non-blocking mode. */
static void await(int fd, short events) {
    poll(&(struct pollfd){.fd = fd, .events = events}, 1, -1);
}

/* Copy every byte of one descriptor to another, until the source or the target ends. */
static void *copy(void *given) {
    const struct copy *pair = given;
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
    if (pair->from == 0)
        close_stream(pair->h, 0);
    return NULL;
}

cJSON *process_bridge(const cJSON *message) {
    struct handle *bridged = allocate(sizeof *bridged);
    pthread_t threads[3];
    cJSON *asked = cJSON_CreateObject();
    cJSON_AddItemToObject(asked, "request", cJSON_Duplicate(field(message, "request"), true));
    signal(SIGPIPE, SIG_IGN);
    handle_init(bridged, asked);
    cJSON *opened = handle_open(bridged);
    if (field(opened, "error"))
        return opened;
    for (int at = 0; at < 3; at++) {
        struct copy *pair = allocate(sizeof *pair);
        *pair = at == 0 ? (struct copy){bridged, 0, bridged->pipes[0]}
                        : (struct copy){bridged, bridged->pipes[at], at};
        pthread_create(&threads[at], NULL, copy, pair);
    }
    pthread_join(threads[1], NULL);
    pthread_join(threads[2], NULL);
    return result(handle_wait(bridged, NULL));
}
