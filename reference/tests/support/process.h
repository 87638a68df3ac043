/* Opens process handles for short shell scripts. */
#ifndef BS_TESTS_PROCESS_H
#define BS_TESTS_PROCESS_H

#include <boxspec/process.h>

/* A blocking pipe for each stream. */
extern const struct bs_stdio piped;

/* Open /bin/sh -c SCRIPT with three pipes. Fails the test if this is not possible. The caller drops
 * the handle. */
struct bs_process *opened(const char *script);

#endif
