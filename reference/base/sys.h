/* Helpers for system calls: repetition after EINTR, descriptors, and times. */
#ifndef BS_BASE_SYS_H
#define BS_BASE_SYS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Repeat a call while it fails with EINTR. Do not use it for close(): Linux has freed the number
 * even then, and a second close could close a descriptor that another thread has opened
 * meanwhile. */
#define BS_RETRY(call)                                                                             \
    (__extension__({                                                                               \
        long bs_retry_rc_;                                                                         \
        do                                                                                         \
            bs_retry_rc_ = (long)(call);                                                           \
        while (bs_retry_rc_ == -1 && errno == EINTR);                                              \
        bs_retry_rc_;                                                                              \
    }))

/* Close *fd and set it to -1. Does nothing for -1. Keeps errno. */
void bs_close(int *fd);

/* Return a close-on-exec descriptor above 2 for the same file. If the caller runs with 0, 1 or 2
 * closed, a new descriptor may have such a number, and a later dup2 would replace it. fd is closed
 * or returned; on failure it is closed and the result is -1 with errno. */
int bs_above_stdio(int fd);

/* Open a descriptor that is readable once something was written to it. No write blocks. It is an
 * eventfd, or a pipe with both ends in one descriptor if a seccomp filter refuses eventfd2. Return
 * -1 with errno on failure. */
int bs_open_notice(void);

bool bs_set_nonblocking(int fd);

/* Return the time of CLOCK_MONOTONIC in nanoseconds. */
uint64_t bs_now_ns(void);

#define BS_NEVER UINT64_MAX
#define BS_NS_PER_MS UINT64_C(1000000)

/* Return start + ms, or BS_NEVER if the sum overflows. */
uint64_t bs_after_ms(uint64_t start_ns, uint64_t ms);

static inline uint64_t bs_earlier(uint64_t a_ns, uint64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

/* Return a timeout for poll: the milliseconds until `at`, rounded up so that a deadline is never
 * early; -1 for BS_NEVER. */
int bs_poll_timeout(uint64_t now_ns, uint64_t at_ns);

#endif
