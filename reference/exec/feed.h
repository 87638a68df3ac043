/* Writes the payload to the child's stdin. */
#ifndef BS_EXEC_FEED_H
#define BS_EXEC_FEED_H

#include <stdbool.h>
#include <stddef.h>

struct bs_feed {
    int fd; /* -1 once all bytes are written, or after an error */
    const char *data;
    size_t left;  /* bytes */
    int os_error; /* the error that stopped the feed, else 0 */
};

#define BS_FEED_INIT                                                                               \
    { -1, NULL, 0, 0 }

/* Initialise the feed, which owns fd from then on. */
void bs_feed_init(struct bs_feed *feed, int fd, const void *data, size_t len);

/* Write as much as the pipe takes. fd is closed after the last byte, or at once for an empty
 * payload. fd must be non-blocking, because POLLOUT promises room for PIPE_BUF bytes only. */
void bs_feed_write(struct bs_feed *feed);

/* Call after the end of the child: bytes that are not written yet count as lost (EPIPE). */
void bs_feed_abandon(struct bs_feed *feed);

bool bs_feed_failed(const struct bs_feed *feed);

#endif
