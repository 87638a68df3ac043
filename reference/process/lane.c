#define _GNU_SOURCE
#include "process/lane.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

void bs_lane_poll(const struct bs_lane *lane, struct pollfd set[2]) {
    bool holds = lane->start < lane->end;
    set[0] = (struct pollfd){.fd = holds || lane->to < 0 ? -1 : lane->from, .events = POLLIN};
    /* Without anything to write too: a reader that has gone is told at once. */
    set[1] = (struct pollfd){.fd = lane->from < 0 && !holds ? -1 : lane->to,
                             .events = (short)(holds ? POLLOUT : 0)};
}

static bool is_for_later(void) { return errno == EAGAIN || errno == EINTR; }

static void fill(struct bs_lane *lane) {
    ssize_t n = read(lane->from, lane->bytes, sizeof lane->bytes);
    if (n < 0 && is_for_later())
        return;
    if (n < 0)
        lane->os_error = errno;
    lane->moved = true;
    lane->start = 0;
    lane->end = n > 0 ? (size_t)n : 0;
    if (n <= 0)
        lane->from = -1;
}

static void drain(struct bs_lane *lane) {
    size_t n = lane->end - lane->start;
    ssize_t written = write(lane->to, lane->bytes + lane->start, n < PIPE_BUF ? n : PIPE_BUF);
    if (written < 0 && is_for_later())
        return;
    if (written < 0 && errno != EPIPE)
        lane->os_error = errno;
    lane->moved = true;
    if (written < 0)
        lane->to = -1;
    else
        lane->start += (size_t)written;
}

void bs_lane_turn(struct bs_lane *lane, const struct pollfd set[2]) {
    lane->moved = false;
    if (set[0].fd >= 0 && set[0].revents != 0)
        fill(lane);
    if (set[1].fd < 0 || set[1].revents == 0)
        return;
    if (lane->start < lane->end && (set[1].revents & POLLOUT) != 0)
        drain(lane);
    else if ((set[1].revents & (POLLERR | POLLNVAL | POLLHUP)) != 0)
        lane->to = -1;
}

bool bs_lane_is_done(const struct bs_lane *lane) {
    return lane->to < 0 || (lane->from < 0 && lane->start == lane->end);
}
