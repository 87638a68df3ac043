/* The launcher outside of the namespace. outside.c supervises the program, start.c starts the
 * child, and streams.c checks the streams and relays standard input. */
#ifndef BS_BACKEND_LAUNCH_LAUNCHER_H
#define BS_BACKEND_LAUNCH_LAUNCHER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/launch/launch.h"
#include "base/relay.h"
#include "exec/group_end.h"

struct launcher {
    const struct plan *plan;
    struct program *program;
    pid_t self;
    pid_t child;
    bool namespaces;
    bool released;      /* the program may run, so the end of the child is the end of the program */
    bool reports_start; /* the report is a socket: the caller waits for the start */
    bool ended;
    int wait_status; /* of the program */
    int signal_fd;
    int status;       /* only bubblewrap: read end of the pipe for messages of pid 1 */
    int program_pipe; /* only bubblewrap: write end of the pipe that pid 1 has as PROGRAM_FD */
    int bwrap_stderr; /* only bubblewrap: read end of its standard error */
    int report_fd;    /* the report pipe; poll reports POLLERR once the caller has died */
    struct stream_queue streams;
    int stdin_source; /* a file or a shared pipe whose bytes are passed to the program; else -1 */
    int stdin_pipe;   /* write end of the pipe that is the program's standard input; else -1 */
    /* If standard input is a file: the file, and a read end of the pipe; else -1 */
    int stdin_file;
    int stdin_unread;
    struct bs_relay relay;
    /* the beginning of bubblewrap's messages on standard error, as one line */
    char bwrap_message[200];
    struct bs_group_end end; /* BS_GROUP_RUNS until a SIGINT or SIGTERM */
    uint64_t strays_until;   /* end of the grace period for processes that left the group */
    struct outputs outputs;
    /* the outputs of processes that were killed because the program had ended */
    unsigned killed_outputs;
    bool has_failed;
    struct bs_launch_failure failure;
};

/* Make a pipe with both ends at FIRST_FREE_FD or above. Returns false with errno. */
bool make_pipe(int *read_end, int *write_end);

/* Check descriptors 0 to 2, which the program gets. A regular file at 0 is replaced by a pipe that
 * the launcher fills. A pipe at 0 is replaced too, unless `own_stdin` says that only the program
 * reads from it. */
bool check_stdio(struct launcher *launcher, bool own_stdin, struct bs_launch_failure *failure);

/* Pass on standard input once, after a poll of the entries of `relay`. */
void relay_stdin(struct launcher *launcher, const struct pollfd set[2]);

/* Move the offset of a file on standard input back by the bytes that the program has not read, so
 * that the next program of the caller continues there. Call it after the program's end. */
void give_back_stdin(struct launcher *launcher);

/* Start the child: the program itself, or bubblewrap, whose pid 1 then waits for release_program. A
 * SIGINT or SIGTERM that arrives before the fork aborts the launch. If one arrives after the fork,
 * *interrupted becomes true. Returns false with the failure filled if the child could not be
 * started. */
bool start_launched(struct launcher *launcher, bool *interrupted);

/* Send the program's arguments and environment to pid 1, which then starts the program. Call it
 * after STATUS_READY. By then pid 1 has blocked its signals, so no signal is lost. */
void release_program(struct launcher *launcher);

#endif
