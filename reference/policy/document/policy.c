#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "policy/model.h"

void bs_policy_report_clear(struct bs_policy_report *report) {
    bs_arena_free(report->arena); /* which the problems and the warnings lie in */
    *report = (struct bs_policy_report)BS_POLICY_REPORT_INIT;
}

void bs_policy_free(struct bs_policy *policy) {
    if (policy != NULL)
        bs_arena_free(policy->arena); /* which the policy itself lies in */
}

const char *bs_policy_name(const struct bs_policy *policy) { return policy->name; }

const char *bs_policy_description(const struct bs_policy *policy) { return policy->description; }

static int is_named(const void *name, const void *entry) {
    return strcmp(name, ((const struct bs_profile_name *)entry)->name);
}

const struct bs_profile_rules *bs_policy_profile(const struct bs_policy *policy, const char *name) {
    if (policy->n_profiles == 0)
        return NULL;
    const struct bs_profile_name *found =
        bsearch(name, policy->by_name, policy->n_profiles, sizeof *policy->by_name, is_named);
    return found != NULL ? found->profile : NULL;
}
