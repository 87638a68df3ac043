/* Passes bytes from one descriptor to another, without blocking. Other processes may read from the
 * source too. */
#ifndef BS_BASE_RELAY_H
#define BS_BASE_RELAY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BS_RELAY_BYTES = 64 * 1024, BS_RELAY_SPLICED = 1024 * 1024 };

struct bs_relay {
    int from; /* -1 after end-of-file */
    int to;   /* -1 after its reader has gone */
    size_t start;
    size_t end;
    uint64_t passed;
    /* both are pipes, so splice can move the bytes without copying them to this process */
    bool splices;
    bool full;        /* the last splice failed because `to` is full */
    bool nonblocking; /* `to` has O_NONBLOCK, so a write of any size does not block */
    int os_error;     /* the error that lost bytes: an errno other than EPIPE; else 0 */
    char bytes[BS_RELAY_BYTES];
};

/* Connect two descriptors; either may be -1. Their flags stay unchanged. */
void bs_relay_connect(struct bs_relay *relay, int from, int to);

/* Fill the two poll entries: [0] waits to read, [1] to write. The fd of a side that has to wait for
 * the other side is -1. */
void bs_relay_poll(const struct bs_relay *relay, struct pollfd set[2]);

/* Move the bytes that are ready. If `to` is a blocking descriptor, write no more than poll promised
 * to take. A descriptor that has ended becomes -1 here; its owner closes it. */
void bs_relay_turn(struct bs_relay *relay, const struct pollfd set[2]);

/* Return the number of bytes that wait to be written (`passed` counts the written ones), plus those
 * that can be read right now. */
uint64_t bs_relay_held(const struct bs_relay *relay);

/* True if the source has ended and all its bytes are written, or if the reader has gone. */
bool bs_relay_is_done(const struct bs_relay *relay);

#endif
