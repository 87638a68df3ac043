/* The least that stands between a client and a program: two splices and a poll. No group, no
 * signals, no watcher, no stderr, and it blocks with whoever blocks. */
#ifndef BOXSPEC_BENCH_PROCESS_RELAY_H
#define BOXSPEC_BENCH_PROCESS_RELAY_H

#include <stdbool.h>

/* Runs argv behind the caller's 0 and 1, which are pipes. The program's exit code. */
int relay_run(const char *const *argv);

#endif
