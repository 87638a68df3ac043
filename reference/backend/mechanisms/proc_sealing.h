/* Finds the entries of /proc that need no sealing, because root without capabilities cannot change
 * anything through them. All other entries are sealed: they become read-only. */
#ifndef BS_BACKEND_MECHANISMS_PROC_SEALING_H
#define BS_BACKEND_MECHANISMS_PROC_SEALING_H

#include "base/buf.h"

/* Append `NAME:` for each entry of the procfs at `proc` that needs no sealing: it belongs to no
 * process, and each file in it is writable either for no user or for every user. If memory runs
 * out, names->failed is set. */
void bs_proc_sealing_exceptions(const char *proc, struct bs_buf *names);

#endif
