#define _GNU_SOURCE
#include "process/lane.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_pipe(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

void bs_lane_connect(struct bs_lane *lane, int from, int to) {
    int flags = fcntl(to, F_GETFL);
    lane->from = from;
    lane->to = to;
    lane->splices = is_pipe(from) && is_pipe(to);
    lane->whole = flags >= 0 && (flags & O_NONBLOCK) != 0;
}

void bs_lane_poll(const struct bs_lane *lane, struct pollfd set[2]) {
    bool holds = lane->start < lane->end || lane->full;
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
    lane->start = 0;
    lane->end = n > 0 ? (size_t)n : 0;
    if (n <= 0)
        lane->from = -1;
}

/* With this flag a pipe takes what fits, whatever its own flags say. */
static void pass(struct bs_lane *lane) {
    ssize_t n = splice(lane->from, NULL, lane->to, NULL, BS_LANE_SPLICED,
                       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    lane->full = n < 0 && errno == EAGAIN;
    if (n < 0 && is_for_later())
        return;
    if (n < 0 && errno != EPIPE) {
        lane->splices = false; /* both are one pipe, say */
        return;
    }
    if (n > 0)
        lane->passed += (uint64_t)n;
    else if (n == 0)
        lane->from = -1;
    else
        lane->to = -1;
}

static void drain(struct bs_lane *lane) {
    size_t n = lane->end - lane->start;
    if (!lane->whole && n > PIPE_BUF)
        n = PIPE_BUF;
    ssize_t written = write(lane->to, lane->bytes + lane->start, n);
    if (written < 0 && is_for_later())
        return;
    if (written < 0 && errno != EPIPE)
        lane->os_error = errno;
    if (written < 0) {
        lane->to = -1;
        return;
    }
    lane->start += (size_t)written;
    lane->passed += (uint64_t)written;
}

void bs_lane_turn(struct bs_lane *lane, const struct pollfd set[2]) {
    bool ready = set[0].fd >= 0 && set[0].revents != 0;
    bool takes = set[1].fd >= 0 && (set[1].revents & POLLOUT) != 0;
    if (lane->splices && (ready || (takes && lane->full)))
        pass(lane);
    else if (ready)
        fill(lane);
    if (set[1].fd < 0 || set[1].revents == 0)
        return;
    if (lane->start < lane->end && (set[1].revents & POLLOUT) != 0)
        drain(lane);
    else if ((set[1].revents & (POLLERR | POLLNVAL | POLLHUP)) != 0)
        lane->to = -1;
}

uint64_t bs_lane_held(const struct bs_lane *lane) {
    int readable = 0;
    /* Where nobody takes anything its source is closed by now. */
    bool both = lane->from >= 0 && lane->to >= 0;
    if (!both || ioctl(lane->from, FIONREAD, &readable) != 0 || readable < 0)
        readable = 0;
    return lane->end - lane->start + (uint64_t)readable;
}

bool bs_lane_is_done(const struct bs_lane *lane) {
    return lane->to < 0 || (lane->from < 0 && lane->start == lane->end);
}
