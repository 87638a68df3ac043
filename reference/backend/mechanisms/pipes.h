/* A Landlock ruleset that protects named pipes under bubblewrap. */
#ifndef BS_BACKEND_MECHANISMS_PIPES_H
#define BS_BACKEND_MECHANISMS_PIPES_H

#include <boxspec/backend.h>

#include "base/buf.h"

/* True if this kernel can refuse writes to named pipes on read-only mounts. */
bool bs_pipes_can_be_protected(void);

/* Append the ruleset for pid 1 of the namespaces to the plan, if the kernel supports it. A program
 * under the ruleset cannot mount anything. Returns false if memory ran out. */
bool bs_pipes_plan(const struct bs_backend_context *context, const char *scratch,
                   struct bs_buf *out);

#endif
