/* Reads the records in which a launcher reports the start of its program. */
#ifndef BS_EXEC_LAUNCHED_H
#define BS_EXEC_LAUNCHED_H

#include <boxspec/exec.h>

/* Read the next record without blocking. Returns false if no record has arrived. */
bool bs_launched_read(int report, struct bs_launch_failure *failure);

/* Wait for a record on the report socket. Returns 0 once the program runs. Also returns 0 if the
 * launcher ended without a record: its exit status has the reason. Returns BS_E_EXECUTION if the
 * program was not started, or not within BS_LAUNCH_START_MS. */
int bs_launched_await(const struct bs_exec_request *request, int report, struct bs_error *err);

/* Fill *err from a failure record and return its code. */
int bs_launched_fail(const struct bs_exec_request *request, const struct bs_launch_failure *failure,
                     struct bs_error *err);

/* A sandbox usually starts within milliseconds. After this time it is treated as stuck. */
#define BS_LAUNCH_START_MS 10000

#endif
