/* Helpers for system calls: repeating them, descriptors, and times. */
#ifndef BS_BASE_SYS_H
#define BS_BASE_SYS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Repeats a call while it fails with EINTR. Not for close(): Linux has freed the number by then,
 * and a repeat could close a descriptor that another thread has opened since. */
#define BS_RETRY(call)                                                                             \
    (__extension__({                                                                               \
        long bs_retry_rc_;                                                                         \
        do                                                                                         \
            bs_retry_rc_ = (long)(call);                                                           \
        while (bs_retry_rc_ == -1 && errno == EINTR);                                              \
        bs_retry_rc_;                                                                              \
    }))

/* Closes *fd and sets it to -1; ignores -1. Keeps errno. */
void bs_close(int *fd);

/* Moves a descriptor above 2: if the caller runs with 0, 1 or 2 closed, a new descriptor may have
 * such a number, and a later dup2 would replace it. Owns fd: on failure it closes it and returns -1
 * with errno. The result is close-on-exec. */
int bs_above_stdio(int fd);

bool bs_set_nonblocking(int fd);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t bs_now_ns(void);

#define BS_NEVER UINT64_MAX
#define BS_NS_PER_MS UINT64_C(1000000)

/* Return start + ms, or BS_NEVER if the sum overflows. */
uint64_t bs_after_ms(uint64_t start_ns, uint64_t ms);

static inline uint64_t bs_earlier(uint64_t a_ns, uint64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

/* Return the timeout for poll: the milliseconds until `at`, rounded up so that a deadline never
 * fires early; -1 for BS_NEVER. */
int bs_poll_timeout(uint64_t now_ns, uint64_t at_ns);

#endif
