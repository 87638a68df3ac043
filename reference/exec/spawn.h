/* Start the child. All that can fail before the program runs fails here, and a failure leaves no
 * process, descriptor or thread. */
#ifndef BS_EXEC_SPAWN_H
#define BS_EXEC_SPAWN_H

#include <sys/types.h>

#include <boxspec/exec.h>

#include "exec/feed.h"
#include "exec/terminal.h"
#include "exec/watch.h"

enum bs_plug { BS_PLUG_INHERIT, BS_PLUG_PIPE, BS_PLUG_NULL };

/* The three streams of a child that is not a run. */
struct bs_plugs {
    enum bs_plug in;
    enum bs_plug out;
    enum bs_plug err;
    bool nonblocking; /* the caller's ends of pipes */
    /* The child writes its pid there before it executes the program and holds the descriptor until
     * then, so its reader learns of every child. Above 2 and close-on-exec; -1: not wanted. */
    int announce;
};

struct bs_child {
    pid_t pid;
    struct bs_watch watch;
    struct bs_terminal terminal; /* the caller takes it back after the end of the child */
    int in;                      /* only with plugs */
    int out; /* the caller's ends, close-on-exec; non-blocking without plugs; -1: not a pipe */
    int err;
    int report; /* of a launcher, else -1; with plugs a socket, which reports the start too */
    struct bs_feed feed; /* the part of the payload that the pipe did not take at once */
};

#define BS_CHILD_INIT                                                                              \
    { -1, BS_WATCH_INIT, BS_TERMINAL_INIT, -1, -1, -1, -1, BS_FEED_INIT }

/* Start the child. Returns 0, or a negative code with *child as BS_CHILD_INIT. `wrapped` is the
 * sandbox's command; NULL: none. `plugs` overrides the request's stdin; NULL: stdin as the request
 * says, and pipes for the outputs. */
int bs_spawn(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
             const struct bs_plugs *plugs, struct bs_child *child, struct bs_error *err);

#endif
