/* Starts the child. Everything that can fail before the program runs fails here. After a failure no
 * process, descriptor or thread remains. */
#ifndef BS_EXEC_SPAWN_H
#define BS_EXEC_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include <boxspec/exec.h>

#include "exec/feed.h"
#include "exec/terminal.h"
#include "exec/watch.h"

enum bs_connection { BS_CONNECT_INHERIT, BS_CONNECT_PIPE, BS_CONNECT_NULL };

/* How to connect the three streams of a process handle. A run does not use this struct, because it
 * always captures its outputs. */
struct bs_connections {
    enum bs_connection in;
    enum bs_connection out;
    enum bs_connection err;
    bool nonblocking; /* the caller's ends of the pipes get O_NONBLOCK */
    /* The child writes its pid to this descriptor, which closes when the child executes the
     * program. So the reader learns of every child, even of one that fails before that. Above 2 and
     * close-on-exec; -1 if not wanted. */
    int announce;
};

struct bs_child {
    pid_t pid;
    uint64_t spawned_at; /* CLOCK_MONOTONIC ns, directly before the call that starts the child */
    struct bs_watch watch;
    /* terminal.h: if the child may use the caller's terminal, the caller takes it back afterwards
     */
    struct bs_terminal terminal;
    /* The caller's ends of the pipes of stdin, stdout and stderr. They are close-on-exec, and
     * non-blocking without `connections`. -1 if the stream is not a pipe; `in` is always -1 without
     * `connections`. */
    int in;
    int out;
    int err;
    /* the report of a launcher, else -1. With `connections` it is a socket, which also reports the
     * start. */
    int report;
    struct bs_feed feed; /* the part of the payload that is still to be written */
};

#define BS_CHILD_INIT                                                                              \
    { -1, 0, BS_WATCH_INIT, BS_TERMINAL_INIT, -1, -1, -1, -1, BS_FEED_INIT }

/* Start the child. Returns 0, or a negative code with *child as BS_CHILD_INIT. `wrapped` is the
 * command of the sandbox, or NULL. `connections` says how all three streams are connected. If it is
 * NULL, stdin is as the request says and both outputs are pipes. */
int bs_spawn(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
             const struct bs_connections *connections, struct bs_child *child,
             struct bs_error *err);

#endif
