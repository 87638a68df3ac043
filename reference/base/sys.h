/* The one place that knows how an interrupted call is repeated, and where descriptors may live. */
#ifndef BS_BASE_SYS_H
#define BS_BASE_SYS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Repeats a call that returns -1 with EINTR. Not for close(): on Linux the number is free either
 * way, and a repeat could close a stranger's descriptor. */
#define BS_RETRY(call)                                                                             \
    (__extension__({                                                                               \
        long bs_retry_rc_;                                                                         \
        do                                                                                         \
            bs_retry_rc_ = (long)(call);                                                           \
        while (bs_retry_rc_ == -1 && errno == EINTR);                                              \
        bs_retry_rc_;                                                                              \
    }))

/* Closes *fd once and forgets it; -1 is nothing to close. errno is kept. */
void bs_close(int *fd);

/* Moves a descriptor above 2, so that a later dup2 onto 0, 1 or 2 cannot hit it when the caller
 * runs with some of those closed. Takes fd over: on failure it is closed and -1 with errno is
 * returned. The result is close-on-exec. */
int bs_above_stdio(int fd);

bool bs_set_nonblocking(int fd);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t bs_now_ns(void);

#define BS_NEVER UINT64_MAX
#define BS_NS_PER_MS UINT64_C(1000000)

/* start + ms, or BS_NEVER where the sum does not fit. */
uint64_t bs_after_ms(uint64_t start_ns, uint64_t ms);

/* The timeout for poll: whole milliseconds until `at`, rounded up so that a deadline never fires
 * early, -1 for never. */
int bs_poll_timeout(uint64_t now_ns, uint64_t at_ns);

#endif
