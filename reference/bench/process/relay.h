/* The least work that passes bytes between a client and a program: two splices and a poll. No
 * group, no signals, no watcher, no stderr; it blocks if the client or the program does. */
#ifndef BOXSPEC_BENCH_PROCESS_RELAY_H
#define BOXSPEC_BENCH_PROCESS_RELAY_H

#include <stdbool.h>

/* Run argv and relay its stdin and stdout to the caller's 0 and 1, which are pipes. Return the
 * program's exit code, or 1 on an error. */
int relay_run(const char *const *argv);

#endif
