/* Functions that add to a report. Each copies the texts and returns false if memory ran out. */
#ifndef BS_BACKEND_SESSION_REPORT_H
#define BS_BACKEND_SESSION_REPORT_H

#include <boxspec/backend.h>

bool bs_report_warn(struct bs_backend_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add a rule that is not enforced, unless the same rule and reason are in the report. */
bool bs_report_unenforced(struct bs_backend_report *report, const char *rule, const char *why);

/* `path` is relative to the root in both functions. */
bool bs_report_hard_link(struct bs_backend_report *report, const char *root, const char *path);
bool bs_report_violation(struct bs_backend_report *report, const char *root, const char *path,
                         const char *rule);

/* Add the findings of prepare to the report of the probe. An aspect that prepare reports as partial
 * or unavailable becomes partial. If `overall` is BS_CLAIM_FULLY, it becomes partial then. */
bool bs_report_merge(struct bs_backend_report *to, const struct bs_backend_report *from);

/* Make each requested aspect unavailable (see bs_context_requests). */
bool bs_report_unavailable(struct bs_backend_report *report,
                           const struct bs_backend_context *context, bool denies_reading,
                           const char *why);

/* Make each claimed aspect unavailable, because the backend could not be prepared. */
bool bs_report_withdraw(struct bs_backend_report *report, const char *why);

#endif
