/* What a launcher says about the program that it was to start. */
#ifndef BS_EXEC_LAUNCHED_H
#define BS_EXEC_LAUNCHED_H

#include <boxspec/exec.h>

/* The next record, without waiting for it. False where there is none. */
bool bs_launched_read(int report, struct bs_launch_failure *failure);

/* Waits on the socket of a report until the program is there. 0, also for a launcher that ended
 * without a word; BS_E_EXECUTION for a program that was not started, and one that is not there
 * after BS_LAUNCH_START_MS. */
int bs_launched_await(const struct bs_exec_request *request, int report, struct bs_error *err);

/* The error that a record stands for. */
int bs_launched_fail(const struct bs_exec_request *request, const struct bs_launch_failure *failure,
                     struct bs_error *err);

/* A sandbox takes milliseconds to start; one that does not is stuck. */
#define BS_LAUNCH_START_MS 10000

#endif
