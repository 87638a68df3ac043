/* The least work that passes bytes between a client and a program: two splices and a poll. It has
 * no process group, signals, watcher or stderr, and it blocks if the client or the program does. */
#ifndef BOXSPEC_BENCH_PROCESS_RELAY_H
#define BOXSPEC_BENCH_PROCESS_RELAY_H

#include <stdbool.h>

/* Run argv and pass bytes between its stdin and stdout and the caller's descriptors 0 and 1, which
 * are pipes. Return the program's exit code, or 1 after an error. */
int relay_run(const char *const *argv);

#endif
