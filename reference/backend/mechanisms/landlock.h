/* Landlock without namespaces. */
#ifndef BS_BACKEND_MECHANISMS_LANDLOCK_H
#define BS_BACKEND_MECHANISMS_LANDLOCK_H

#include <boxspec/backend.h>

#include "base/buf.h"

int bs_landlock_abi(void); /* 0: the kernel lacks it, or it is disabled */

/* Appends the grants of a context. `scratch` is the TMPDIR of the programs. Returns 0 or
 * BS_E_EXECUTION. */
int bs_landlock_plan(const struct bs_backend_context *context, const char *scratch,
                     struct bs_buf *out, struct bs_backend_report *report, struct bs_error *err);

/* Adds the claims of Landlock on this host, without a policy, to the report; `filtered`: together
 * with a seccomp filter. False: out of memory. */
bool bs_landlock_claims(const struct bs_backend_context *context, bool filtered, int abi,
                        struct bs_backend_report *report);

#endif
