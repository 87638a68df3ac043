/* bubblewrap: namespaces and mounts. */
#ifndef BS_BACKEND_MECHANISMS_BUBBLEWRAP_H
#define BS_BACKEND_MECHANISMS_BUBBLEWRAP_H

#include <boxspec/backend.h>

#include "base/buf.h"

#define BS_BUBBLEWRAP "/usr/bin/bwrap"

/* Appends the command of bubblewrap. `dir` is the private directory of the session, `scratch` the
 * TMPDIR of the programs. Returns 0 or BS_E_EXECUTION. */
int bs_bubblewrap_plan(const struct bs_backend_context *context, const char *dir,
                       const char *scratch, int cancel, struct bs_buf *out,
                       struct bs_backend_report *report, struct bs_error *err);

/* As bs_landlock_claims. */
bool bs_bubblewrap_claims(const struct bs_backend_context *context, bool filtered,
                          struct bs_backend_report *report);

/* Returns the directory that is private in every run: a real path, malloc'd. NULL: out of memory.
 */
char *bs_bubblewrap_scratch(const char *root);

#endif
