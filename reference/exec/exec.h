/* Makes a run as a part of an operation that already receives the signals of the caller. */
#ifndef BS_EXEC_EXEC_H
#define BS_EXEC_EXEC_H

#include <boxspec/exec.h>

#include "exec/signals.h"

/* As bs_exec_run, but the run is interrupted by the signals of `slot`, even by a signal that
 * arrived before this call. A slot that is acquired only for the run would miss that signal.
 * `pending_signals` stays 0; the caller reads its slot instead. If `slot` is NULL, the run acquires
 * a slot. */
int bs_exec_run_with(const struct bs_exec_request *request, const struct bs_signal_slot *slot,
                     struct bs_exec_result *result, struct bs_error *err);

#endif
