/* The mechanism Landlock, without namespaces. */
#ifndef BS_BACKEND_MECHANISMS_LANDLOCK_H
#define BS_BACKEND_MECHANISMS_LANDLOCK_H

#include <boxspec/backend.h>

#include "base/buf.h"

int bs_landlock_abi(void); /* 0 if the kernel lacks Landlock, or if it is disabled */

/* Append the grants of a context to the plan. `scratch` is the TMPDIR of the programs. Returns 0 or
 * BS_E_EXECUTION. */
int bs_landlock_plan(const struct bs_backend_context *context, const char *scratch,
                     struct bs_buf *out, struct bs_backend_report *report, struct bs_error *err);

/* Add to the report the claims that Landlock can make on this host, before any rules of a policy.
 * `filtered` means that a seccomp filter is used as well. Returns false if memory ran out. */
bool bs_landlock_claims(const struct bs_backend_context *context, bool filtered, int abi,
                        struct bs_backend_report *report);

#endif
