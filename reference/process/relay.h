/* One direction of a bridge: what can be read from one descriptor goes to another. */
#ifndef BS_PROCESS_RELAY_H
#define BS_PROCESS_RELAY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BS_RELAY_BYTES = 64 * 1024, BS_RELAY_SPLICED = 1024 * 1024 };

struct bs_relay {
    int from; /* -1 once it has ended */
    int to;   /* -1 once nobody takes anything */
    size_t start;
    size_t end;
    uint64_t passed;
    bool splices; /* from pipe to pipe, past our memory: a copy less each way */
    bool full;    /* it splices, and the other pipe takes nothing now */
    bool whole;   /* `to` never blocks, so all may be written that there is */
    int os_error; /* why bytes were lost: 0, or an errno other than EPIPE */
    char bytes[BS_RELAY_BYTES];
};

/* Either may be -1. The flags of both stay as they are. */
void bs_relay_connect(struct bs_relay *relay, int from, int to);

/* What to poll for: [0] to read, [1] to write; -1 where it waits for the other. */
void bs_relay_poll(const struct bs_relay *relay, struct pollfd set[2]);

/* Moves what is ready. Never blocks: of a descriptor that blocks no more is asked than it promised.
 * A side that has ended becomes -1 and is the caller's to close. */
void bs_relay_turn(struct bs_relay *relay, const struct pollfd set[2]);

/* Bytes that it holds (`passed` are those that `to` took), and those that can be read right now. */
uint64_t bs_relay_held(const struct bs_relay *relay);

/* Nothing will come any more, or nobody takes it. */
bool bs_relay_is_done(const struct bs_relay *relay);

#endif
