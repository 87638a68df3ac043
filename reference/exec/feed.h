/* The payload on its way to the child's stdin. */
#ifndef BS_EXEC_FEED_H
#define BS_EXEC_FEED_H

#include <stdbool.h>
#include <stddef.h>

struct bs_feed {
    int fd; /* -1 once everything is written or given up */
    const char *data;
    size_t left;  /* bytes */
    int os_error; /* why it was given up, 0 while all is well */
};

#define BS_FEED_INIT                                                                               \
    { -1, NULL, 0, 0 }

/* Takes fd over. */
void bs_feed_init(struct bs_feed *feed, int fd, const void *data, size_t len);

/* Writes what the pipe takes and closes it behind the last byte, also of an empty payload. Our end
 * is non-blocking: readiness promises PIPE_BUF bytes only. */
void bs_feed_write(struct bs_feed *feed);

/* The child is gone: whatever is left was not taken. */
void bs_feed_abandon(struct bs_feed *feed);

bool bs_feed_failed(const struct bs_feed *feed);

#endif
