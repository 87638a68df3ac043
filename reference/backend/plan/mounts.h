/* Turns a policy into mount options of bubblewrap. */
#ifndef BS_BACKEND_PLAN_MOUNTS_H
#define BS_BACKEND_PLAN_MOUNTS_H

#include <boxspec/backend.h>
#include <boxspec/profile.h>

#include "base/buf.h"

/* Append the mounts that enforce the policy for every path that exists now. `dir` has an empty file
 * `nothing` and an empty directory `nothing.d`, which are mounted over hidden paths. A rule that is
 * not enforced for some path is added to the report, and its aspect becomes partial. Returns 0 or
 * BS_E_EXECUTION. */
int bs_mounts_add(const struct bs_profile *profile, const struct bs_backend_context *context,
                  const char *dir, int cancel, struct bs_buf *out, struct bs_backend_report *report,
                  struct bs_error *err);

#endif
