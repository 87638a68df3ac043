/* Catches SIGINT and SIGTERM of the calling process while at least one run is active. */
#ifndef BS_EXEC_SIGNALS_H
#define BS_EXEC_SIGNALS_H

#include <boxspec/error.h>

/* The signals that one run has seen, with a descriptor that becomes readable when one arrives. */
struct bs_signal_slot;

/* Take a slot, and install the handlers if no other run is active. Returns NULL with *err filled if
 * that fails; no state has changed then. */
struct bs_signal_slot *bs_signals_acquire(struct bs_error *err);

/* Return the descriptor that becomes readable at the first signal. Do not poll it after that,
 * because it stays readable. */
int bs_signal_fd(const struct bs_signal_slot *slot);

/* Return the first signal that arrived, or 0. */
int bs_signal_first(const struct bs_signal_slot *slot);

/* Release the slot, and restore the previous dispositions if no other run is active. *sigints and
 * *sigterms become the number of signals that arrived until then. */
void bs_signals_release(struct bs_signal_slot *slot, unsigned *sigints, unsigned *sigterms);

#endif
