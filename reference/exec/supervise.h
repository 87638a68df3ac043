/* From a running child to a finished run: the one loop. */
#ifndef BS_EXEC_SUPERVISE_H
#define BS_EXEC_SUPERVISE_H

#include <boxspec/exec.h>

#include "exec/signals.h"
#include "exec/spawn.h"
#include "exec/tee.h"

/* Takes the child over: on return it is reaped or given up, its descriptors are closed. Fills the
 * result but for duration and pending_signals. */
int bs_supervise(const struct bs_exec_request *request, struct bs_child *child,
                 const struct bs_signal_slot *slot, struct bs_tee *tee,
                 struct bs_exec_result *result, struct bs_error *err);

#endif
