/* Closes all open descriptors from a given number on, also on kernels without close_range. */
#ifndef BS_BASE_DESCRIPTORS_H
#define BS_BASE_DESCRIPTORS_H

#include <stdbool.h>

/* Closes the descriptors from `first` on, or marks them close-on-exec. Returns 0, or an errno if
 * some may still be open. Async-signal-safe, so it may be called after a fork. */
int bs_close_from(int first, bool on_exec);

#endif
