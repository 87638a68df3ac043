/* Turns a finished run into a result or an error. */
#ifndef BS_EXEC_REPORT_H
#define BS_EXEC_REPORT_H

#include "exec/run.h"

/* Fill the result, or *err. The kept output is moved into the result. duration_ms and
 * pending_signals are left to the caller. */
int bs_report(struct bs_run *run, struct bs_exec_result *result, struct bs_error *err);

/* Append `process interrupted by signal SIGINT` (or SIGTERM), after a newline if text is not empty.
 * Returns false if memory ran out. */
bool bs_annotate_signal(struct bs_buf *text, int signo);

#endif
