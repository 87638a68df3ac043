/* The least work that captures a program's output: posix_spawn, two pipes, poll, reap. No deadline,
 * no signals, no group, no search. The cost of the library is the difference from this. */
#ifndef BOXSPEC_BENCH_EXEC_BARE_H
#define BOXSPEC_BENCH_EXEC_BARE_H

#include <stddef.h>

struct bare_buffer {
    char *data;
    size_t len;
    size_t cap;
};

struct bare_run {
    struct bare_buffer streams[2]; /* stdout, stderr; freed by bare_clear */
    int exit_code;                 /* -1 after a signal */
};

/* A pipe_size of 0 keeps the system's default. Return 0 or an errno. */
int bare_exec(const char *const *argv, int pipe_size, struct bare_run *run);
void bare_clear(struct bare_run *run);

#endif
