/* What a run that is over means to its caller. */
#ifndef BS_EXEC_REPORT_H
#define BS_EXEC_REPORT_H

#include "exec/run.h"

/* Fills the result but for duration and pending_signals, taking the kept output, or the error. */
int bs_report(struct bs_run *run, struct bs_exec_result *result, struct bs_error *err);

/* `process interrupted by signal SIGINT`, joined to what is there by a newline. False: no memory.
 */
bool bs_annotate_signal(struct bs_buf *text, int signo);

#endif
