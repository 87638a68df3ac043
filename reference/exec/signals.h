/* SIGINT and SIGTERM of the calling process, while at least one run is active. */
#ifndef BS_EXEC_SIGNALS_H
#define BS_EXEC_SIGNALS_H

#include <boxspec/error.h>

/* One run's view: a descriptor that becomes readable when a signal came, and what came. */
struct bs_signal_slot;

/* Installs the handlers if no run has them yet. NULL with *err filled when that fails; nothing is
 * changed then. */
struct bs_signal_slot *bs_signals_acquire(struct bs_error *err);

/* Readable once a signal was noted. Stays so: poll it only until then. */
int bs_signal_fd(const struct bs_signal_slot *slot);

/* The first signal that was noted, or 0. */
int bs_signal_first(const struct bs_signal_slot *slot);

/* Gives the slot back, restoring the previous dispositions if this was the last active run. Fills
 * how often each signal was noted in all, those that came until the restoration included. */
void bs_signals_release(struct bs_signal_slot *slot, unsigned *sigints, unsigned *sigterms);

#endif
