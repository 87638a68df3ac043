/* Starts the child: everything that can fail before it runs fails here, with nothing left behind.
 */
#ifndef BS_EXEC_SPAWN_H
#define BS_EXEC_SPAWN_H

#include <sys/types.h>

#include <boxspec/exec.h>

#include "exec/feed.h"
#include "exec/terminal.h"
#include "exec/watch.h"

enum bs_plug { BS_PLUG_INHERIT, BS_PLUG_PIPE, BS_PLUG_NULL };

/* Where the three streams lead, for somebody who does not want what a run has. */
struct bs_plugs {
    enum bs_plug in;
    enum bs_plug out;
    enum bs_plug err;
    bool nonblocking; /* our ends of pipes */
    /* The child writes its number there before it becomes the program, and holds it open until
     * then: whoever reads the end of it knows of every child. Above 2 and close-on-exec; -1: none.
     */
    int announce;
};

struct bs_child {
    pid_t pid;
    struct bs_watch watch;
    struct bs_terminal terminal; /* the caller takes it back after the end of the child */
    int in;                      /* only with plugs */
    int out; /* our ends, close-on-exec, and without plugs non-blocking; -1 where there is none */
    int err;
    int report;          /* of a launcher; with plugs a socket, which tells the start too */
    struct bs_feed feed; /* what of the payload the pipe did not take at once */
};

#define BS_CHILD_INIT                                                                              \
    { -1, BS_WATCH_INIT, BS_TERMINAL_INIT, -1, -1, -1, -1, BS_FEED_INIT }

/* On 0 the child runs. Else a negative code, and *child is as BS_CHILD_INIT. `wrapped` is what a
 * sandbox made of the command, NULL without one. With `plugs` the request's stdin is not looked at;
 * NULL: stdin as the request says, and pipes for the two others. */
int bs_spawn(const struct bs_exec_request *request, const struct bs_wrapped *wrapped,
             const struct bs_plugs *plugs, struct bs_child *child, struct bs_error *err);

#endif
