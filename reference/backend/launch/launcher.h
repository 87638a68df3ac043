/* The launcher outside of the namespace: outside.c supervises, start.c starts the child, streams.c
 * checks the streams and relays standard input. */
#ifndef BS_BACKEND_LAUNCH_LAUNCHER_H
#define BS_BACKEND_LAUNCH_LAUNCHER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/launch/launch.h"
#include "base/relay.h"

struct launcher {
    const struct plan *plan;
    struct program *program;
    pid_t self;
    pid_t child;
    bool namespaces;
    bool released;      /* the program may run: an end of the child is the end of the program */
    bool reports_start; /* the caller waits for the start: its report is a socket */
    bool ended;
    int wait_status; /* of the program */
    int signal_fd;
    int status;       /* bubblewrap: the read end of the status that pid 1 writes */
    int program_pipe; /* bubblewrap: the write end of PROGRAM_FD of pid 1 */
    int bwrap_stderr; /* bubblewrap: the read end of its standard error */
    int report_fd;    /* the pipe of the report: POLLERR once the caller has died */
    struct stream_queue streams;
    int stdin_source; /* a file or a shared pipe that is relayed to the program; else -1 */
    int stdin_pipe;   /* the write end of the program's standard input; else -1 */
    struct bs_relay relay;
    char bwrap_message[200]; /* the beginning of bubblewrap's standard error, on one line */
    uint64_t grace_until;    /* end of the grace period */
    uint64_t strays_until;   /* end of the grace period of processes that left the group */
    bool has_failed;
    struct bs_launch_failure failure;
};

/* Make a pipe with both ends at FIRST_FREE_FD or above. Returns false with errno. */
bool make_pipe(int *read_end, int *write_end);

/* Check that the program may have the descriptors 0 to 2. A regular file at 0 is replaced by a pipe
 * that the launcher fills. So is a pipe at 0, unless `own_stdin` says that only the program reads
 * it. */
bool check_stdio(struct launcher *launcher, bool own_stdin, struct bs_launch_failure *failure);

/* Relay standard input once, after a poll of the entries of `relay`. */
void relay_stdin(struct launcher *launcher, const struct pollfd set[2]);

/* Start the child: the program itself, or bubblewrap, whose pid 1 waits for release_program. A
 * SIGINT or SIGTERM that arrives before the fork aborts the launch; *interrupted is true if one
 * arrived after it. Returns false with the failure filled if the child could not be started. */
bool start_launched(struct launcher *launcher, bool *interrupted);

/* Send the program's arguments and environment to pid 1, which then starts the program. Call it
 * once pid 1 has blocked its signals (STATUS_READY), so that no signal is lost. */
void release_program(struct launcher *launcher);

#endif
