/* Finds out which aspects a mechanism enforces on this host. */
#include <errno.h>

#include "backend/mechanisms/bubblewrap.h"
#include "backend/mechanisms/landlock.h"
#include "backend/mechanisms/mechanism.h"
#include "backend/plan/profile.h"
#include "backend/plan/rules.h"
#include "backend/session/report.h"
#include "base/error.h"

static int out_of_memory(struct bs_error *err) {
    return bs_fail(err, BS_E_EXECUTION, ENOMEM, "out of memory for a sandbox");
}

/* Find the rules that the mechanism cannot enforce, whatever the workspace contains, and lower the
 * claims for them. */
static bool claim_rules(const struct bs_mechanism *mechanism,
                        const struct bs_backend_context *context, const struct bs_profile *profile,
                        struct bs_backend_report *report) {
    struct bs_unenforced_rules unenforced;
    bool good = mechanism->namespaces
                    ? bs_rules_of_mounts(profile, context, NULL, report, &unenforced)
                    : bs_rules_of_grants(profile, context, report, &unenforced);
    if (good && bs_profile_denies(profile, BS_OP_READ))
        good = bs_report_claim(report, BS_ASPECT_FS_READ, BS_CLAIM_FULLY);
    return good && bs_mechanism_claim_unenforced(mechanism, &unenforced, report);
}

int bs_mechanism_probe(void *ctx, const struct bs_backend_context *context, int cancel,
                       struct bs_backend_report *report, struct bs_error *err) {
    const struct bs_mechanism *mechanism = ctx;
    struct bs_error control = BS_ERROR_INIT;
    const struct bs_profile *profile = context->profile;
    int abi = bs_landlock_abi();
    int code = bs_mechanism_check_profile(context, err);
    if (code != BS_OK)
        return code;
    bool reads = bs_profile_denies(profile, BS_OP_READ);
    bool good = true;
    if (!mechanism->namespaces && abi == 0) {
        good = bs_report_unavailable(report, context, reads,
                                     "this kernel has no Landlock, or it is disabled");
    } else if (bs_mechanism_control(mechanism, context, cancel, &control) != BS_OK) {
        good = bs_report_unavailable(report, context, reads, control.message);
    } else {
        good = (mechanism->namespaces
                    ? bs_bubblewrap_claims(context, mechanism->filtered, report)
                    : bs_landlock_claims(context, mechanism->filtered, abi, report)) &&
               claim_rules(mechanism, context, profile, report);
        if (mechanism->filtered)
            good = good && bs_report_claim(report, BS_ASPECT_KERNEL, BS_CLAIM_FULLY);
        if (!bs_context_requests(context, BS_ASPECT_NETWORK, reads))
            report->aspects[BS_ASPECT_NETWORK] = (struct bs_aspect_claim){BS_NOT_REQUESTED, 0, 0};
    }
    bs_report_conclude(report, context, reads);
    return good ? BS_OK : out_of_memory(err);
}
