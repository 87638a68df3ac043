/* Relay bytes from one descriptor to another. The source may have other readers. */
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
    bool splices;     /* both are pipes: the bytes stay in the kernel */
    bool full;        /* splicing, and `to` is full */
    bool nonblocking; /* `to` is non-blocking, so a write may be of any size */
    int os_error;     /* why bytes were lost: an errno other than EPIPE; else 0 */
    char bytes[BS_RELAY_BYTES];
};

/* Connect two descriptors; either may be -1. Their flags stay unchanged. */
void bs_relay_connect(struct bs_relay *relay, int from, int to);

/* Fill the poll entries: [0] to read, [1] to write; fd is -1 for a side that waits for the other.
 */
void bs_relay_poll(const struct bs_relay *relay, struct pollfd set[2]);

/* Move the bytes that are ready, without blocking: a blocking descriptor is given no more than poll
 * promised. A side that has ended becomes -1; its owner closes the descriptor. */
void bs_relay_turn(struct bs_relay *relay, const struct pollfd set[2]);

/* Return the bytes that were read but not written (`passed` counts the written ones), plus those
 * that can be read right now. */
uint64_t bs_relay_held(const struct bs_relay *relay);

/* True if the source has ended and all is written, or if the reader has gone. */
bool bs_relay_is_done(const struct bs_relay *relay);

#endif
