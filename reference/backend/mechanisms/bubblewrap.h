/* The mechanism bubblewrap, which uses namespaces and mounts. */
#ifndef BS_BACKEND_MECHANISMS_BUBBLEWRAP_H
#define BS_BACKEND_MECHANISMS_BUBBLEWRAP_H

#include <boxspec/backend.h>

#include "base/buf.h"

#define BS_BUBBLEWRAP "/usr/bin/bwrap"

/* Append the command line of bubblewrap to the plan. `dir` is the private directory of the session,
 * `scratch` the TMPDIR of the programs. Returns 0 or BS_E_EXECUTION. */
int bs_bubblewrap_plan(const struct bs_backend_context *context, const char *dir,
                       const char *scratch, int cancel, struct bs_buf *out,
                       struct bs_backend_report *report, struct bs_error *err);

/* As bs_landlock_claims, for bubblewrap. */
bool bs_bubblewrap_claims(const struct bs_backend_context *context, bool filtered,
                          struct bs_backend_report *report);

/* Return the real path of the directory that bubblewrap replaces by a new, private one in every
 * run. The path comes from malloc; NULL if memory ran out. */
char *bs_bubblewrap_scratch(const struct bs_backend_context *context);

#endif
