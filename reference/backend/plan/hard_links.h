/* Finds hard links in a workspace, for the report. */
#ifndef BS_BACKEND_PLAN_HARD_LINKS_H
#define BS_BACKEND_PLAN_HARD_LINKS_H

#include <boxspec/backend.h>
#include <boxspec/profile.h>

/* Report each file that has a name outside of the root. With a profile, also report each file that
 * has two names in the root with different access. At the time `until` (of bs_now_ns) the search
 * ends, and the report gets a warning. Returns 0 or a negative code. */
int bs_hard_links_report(const char *root, const struct bs_profile *profile, int cancel,
                         uint64_t until, struct bs_backend_report *report, struct bs_error *err);

#endif
