/* Finds changes of paths that a rule denies to modify: it takes a snapshot when the session opens
 * and compares it with a later state. */
#ifndef BS_BACKEND_PLAN_SCAN_H
#define BS_BACKEND_PLAN_SCAN_H

#include <boxspec/backend.h>
#include <boxspec/profile.h>

/* A snapshot points to the profile that it was taken with. */
struct bs_snapshot;

/* Take a snapshot. If the workspace is too large, or at the time `until` (of bs_now_ns), *snapshot
 * is NULL. With BS_NEVER there are no limits. Returns 0 or a negative code. */
int bs_snapshot_take(const struct bs_profile *profile, const char *root, int cancel, uint64_t until,
                     struct bs_snapshot **snapshot, struct bs_error *err);

/* Add a violation to the report for each denied path that has changed. Returns 0 or a negative
 * code. */
int bs_snapshot_compare(const struct bs_snapshot *snapshot, const char *root,
                        struct bs_backend_report *report, struct bs_error *err);
void bs_snapshot_free(struct bs_snapshot *snapshot); /* NULL is ignored */

#endif
