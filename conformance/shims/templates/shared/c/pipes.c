/* The ends of pipes that do not block, and the time. This file needs no change. */
#define _GNU_SOURCE
#include "protocol.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Read the content of the pipe. After the end of the group it has at most 1 MiB. */
void drain(struct pollfd *from, struct bytes *to) {
    static char data[1 << 16];
    for (int i = 0; i < 16 && from->fd >= 0; i++) {
        ssize_t count = read(from->fd, data, sizeof data);
        if (count < 0)
            return;
        append(to, data, (size_t)count);
        if (count == 0)
            close(from->fd), from->fd = -1;
    }
}

void feed(struct pollfd *to, struct bytes *input) {
    if (to->fd < 0)
        return;
    ssize_t count = write(to->fd, input->data, input->size);
    input->data += count > 0 ? count : 0;
    input->size -= count > 0 ? (size_t)count : 0;
    if (input->size == 0 || (count < 0 && errno == EPIPE))
        close(to->fd), to->fd = -1;
}
