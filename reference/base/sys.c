#define _GNU_SOURCE
#include "base/sys.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

void bs_close(int *fd) {
    if (*fd < 0)
        return;
    int saved = errno;
    (void)close(*fd);
    *fd = -1;
    errno = saved;
}

int bs_above_stdio(int fd) {
    if (fd < 0 || fd > 2)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    bs_close(&fd);
    return moved;
}

/* Open both ends of a new pipe in one descriptor. Needs /proc. */
static int pipe_in_one(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    char name[32];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
    int fd = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    int os_error = errno;
    bs_close(&ends[0]);
    bs_close(&ends[1]);
    errno = os_error;
    return fd;
}

int bs_open_notice(void) {
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = pipe_in_one();
    return bs_above_stdio(fd);
}

bool bs_set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags != -1 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) != -1;
}

uint64_t bs_now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t bs_after_ms(uint64_t start_ns, uint64_t ms) {
    if (ms > (BS_NEVER - start_ns) / BS_NS_PER_MS)
        return BS_NEVER;
    return start_ns + ms * BS_NS_PER_MS;
}

int bs_poll_timeout(uint64_t now_ns, uint64_t at_ns) {
    if (at_ns == BS_NEVER)
        return -1;
    if (at_ns <= now_ns)
        return 0;
    uint64_t left = at_ns - now_ns;
    uint64_t ms = left / BS_NS_PER_MS + (left % BS_NS_PER_MS != 0);
    return ms > INT_MAX ? INT_MAX : (int)ms;
}
