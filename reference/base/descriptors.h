/* Letting go of every descriptor but a few, on any kernel. */
#ifndef BS_BASE_DESCRIPTORS_H
#define BS_BASE_DESCRIPTORS_H

#include <stdbool.h>

/* Everything from `first` on is closed, or closed by the next exec. 0 or errno: some may be open
 * still then. Async-signal-safe, so it may be called behind a fork. */
int bs_close_from(int first, bool on_exec);

#endif
