/* Landlock for named pipes under bubblewrap. */
#ifndef BS_BACKEND_MECHANISMS_PIPES_H
#define BS_BACKEND_MECHANISMS_PIPES_H

#include <boxspec/backend.h>

#include "base/buf.h"

/* True if this kernel can refuse writes to named pipes on read-only mounts. */
bool bs_pipes_can_be_protected(void);

/* Appends a Landlock ruleset for pid 1 of the namespaces, if the kernel can. A program under it
 * cannot mount anything. False: out of memory. */
bool bs_pipes_plan(const struct bs_backend_context *context, const char *scratch,
                   struct bs_buf *out);

#endif
