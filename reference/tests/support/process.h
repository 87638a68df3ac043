/* Handles on a few words of shell. */
#ifndef BS_TESTS_PROCESS_H
#define BS_TESTS_PROCESS_H

#include <boxspec/process.h>

/* A pipe for each stream, and blocking ends. */
extern const struct bs_stdio piped;

/* /bin/sh -c SCRIPT behind three pipes; fails the test where it cannot be opened. The caller drops
 * it. */
struct bs_process *opened(const char *script);

#endif
