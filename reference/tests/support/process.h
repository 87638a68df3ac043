/* Handles on short shell scripts. */
#ifndef BS_TESTS_PROCESS_H
#define BS_TESTS_PROCESS_H

#include <boxspec/process.h>

/* A pipe for each stream, and blocking ends. */
extern const struct bs_stdio piped;

/* Open /bin/sh -c SCRIPT with three pipes; fail the test if that fails. The caller drops the
 * handle. */
struct bs_process *opened(const char *script);

#endif
