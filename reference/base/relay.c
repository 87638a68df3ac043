#define _GNU_SOURCE
#include "base/relay.h"

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

void bs_relay_connect(struct bs_relay *relay, int from, int to) {
    int flags = fcntl(to, F_GETFL);
    relay->from = from;
    relay->to = to;
    relay->splices = is_pipe(from) && is_pipe(to);
    relay->nonblocking = flags >= 0 && (flags & O_NONBLOCK) != 0;
}

void bs_relay_poll(const struct bs_relay *relay, struct pollfd set[2]) {
    bool holds = relay->start < relay->end || relay->full;
    set[0] = (struct pollfd){.fd = holds || relay->to < 0 ? -1 : relay->from, .events = POLLIN};
    /* Poll `to` even if there is nothing to write: POLLERR then reports at once that its reader has
     * gone. */
    set[1] = (struct pollfd){.fd = relay->from < 0 && !holds ? -1 : relay->to,
                             .events = (short)(holds ? POLLOUT : 0)};
}

static bool must_retry(void) { return errno == EAGAIN || errno == EINTR; }

static void read_bytes(struct bs_relay *relay) {
    ssize_t n = read(relay->from, relay->bytes, sizeof relay->bytes);
    if (n < 0 && must_retry())
        return;
    if (n < 0)
        relay->os_error = errno;
    relay->start = 0;
    relay->end = n > 0 ? (size_t)n : 0;
    if (n <= 0)
        relay->from = -1;
}

/* Splice bytes. SPLICE_F_NONBLOCK makes splice move only the bytes that fit, even if a pipe itself
 * is blocking. */
static void splice_bytes(struct bs_relay *relay) {
    ssize_t n = splice(relay->from, NULL, relay->to, NULL, BS_RELAY_SPLICED,
                       SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    /* EAGAIN has two causes: `to` is full, or another reader has emptied `from`. A second EAGAIN in
     * a row, after `to` became writable, has the second cause, so the next poll waits for
     * `from`. */
    relay->full = n < 0 && errno == EAGAIN && !relay->full;
    if (n < 0 && must_retry())
        return;
    if (n < 0 && errno != EPIPE) {
        relay->splices = false; /* for example because both are ends of one pipe */
        return;
    }
    if (n > 0)
        relay->passed += (uint64_t)n;
    else if (n == 0)
        relay->from = -1;
    else
        relay->to = -1;
}

static void write_bytes(struct bs_relay *relay) {
    size_t n = relay->end - relay->start;
    if (!relay->nonblocking && n > PIPE_BUF)
        n = PIPE_BUF;
    ssize_t written = write(relay->to, relay->bytes + relay->start, n);
    if (written < 0 && must_retry())
        return;
    if (written < 0 && errno != EPIPE)
        relay->os_error = errno;
    if (written < 0) {
        relay->to = -1;
        return;
    }
    relay->start += (size_t)written;
    relay->passed += (uint64_t)written;
}

void bs_relay_turn(struct bs_relay *relay, const struct pollfd set[2]) {
    bool ready = set[0].fd >= 0 && set[0].revents != 0;
    bool writable = set[1].fd >= 0 && (set[1].revents & POLLOUT) != 0;
    if (relay->splices && (ready || (writable && relay->full)))
        splice_bytes(relay);
    else if (ready)
        read_bytes(relay);
    if (set[1].fd < 0 || set[1].revents == 0)
        return;
    if (relay->start < relay->end && (set[1].revents & POLLOUT) != 0)
        write_bytes(relay);
    else if ((set[1].revents & (POLLERR | POLLNVAL | POLLHUP)) != 0)
        relay->to = -1;
}

uint64_t bs_relay_held(const struct bs_relay *relay) {
    int readable = 0;
    /* If the reader has gone, the owner may have closed the source, so the source is not asked. */
    bool both = relay->from >= 0 && relay->to >= 0;
    if (!both || ioctl(relay->from, FIONREAD, &readable) != 0 || readable < 0)
        readable = 0;
    return relay->end - relay->start + (uint64_t)readable;
}

bool bs_relay_is_done(const struct bs_relay *relay) {
    return relay->to < 0 || (relay->from < 0 && relay->start == relay->end);
}
