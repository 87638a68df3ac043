/* Read the report of a launcher about the start of its program. */
#ifndef BS_EXEC_LAUNCHED_H
#define BS_EXEC_LAUNCHED_H

#include <boxspec/exec.h>

/* Read the next record without blocking. Returns false if there is none yet or none at all. */
bool bs_launched_read(int report, struct bs_launch_failure *failure);

/* Wait on a report socket until the program has started. Returns 0, also if the launcher ended
 * without a record (its exit status says how), or BS_E_EXECUTION if the program was not started, or
 * not within BS_LAUNCH_START_MS. */
int bs_launched_await(const struct bs_exec_request *request, int report, struct bs_error *err);

/* Fill *err from a failure record and return its code. */
int bs_launched_fail(const struct bs_exec_request *request, const struct bs_launch_failure *failure,
                     struct bs_error *err);

/* A sandbox starts in milliseconds; after this time it counts as stuck. */
#define BS_LAUNCH_START_MS 10000

#endif
