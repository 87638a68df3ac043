/* Captures the output of a program with as little work as possible: posix_spawn, two pipes, poll,
 * reap. It has no deadline, signals, process group or search in PATH. The cost of the library is
 * the time of a run of the library minus the time of this run. */
#ifndef BOXSPEC_BENCH_EXEC_BARE_H
#define BOXSPEC_BENCH_EXEC_BARE_H

#include <stddef.h>

struct bare_buffer {
    char *data;
    size_t len;
    size_t cap;
};

struct bare_run {
    struct bare_buffer streams[2]; /* stdout and stderr; bare_clear frees them */
    int exit_code;                 /* -1 if a signal ended the program */
};

/* A pipe_size of 0 keeps the system's default. Returns 0 or an errno. */
int bare_exec(const char *const *argv, int pipe_size, struct bare_run *run);
void bare_clear(struct bare_run *run);

#endif
