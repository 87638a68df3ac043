#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/internal.h"
#include "base/error.h"

int bs_policy_of(const struct bs_backend_context *context, struct bs_profile **profile,
                 struct bs_error *err) {
    *profile = NULL;
    if (context->policy == NULL)
        return BS_OK;
    const struct bs_backend_policy *given = context->policy;
    struct bs_policy *policy = NULL;
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    int code = bs_policy_load(&given->global, given->has_workspace ? &given->workspace : NULL,
                              &policy, &report, err);
    if (code == BS_OK)
        code = bs_profile_compile(policy, given->profile, 0, profile, err);
    bs_policy_report_clear(&report);
    bs_policy_free(policy);
    return code;
}

bool bs_profile_allows(const struct bs_profile *profile, enum bs_op op, const char *path) {
    struct bs_decision decision;
    /* What the policy refuses to judge is refused. */
    if (bs_profile_check(profile, op, path, strlen(path), &decision, NULL) != BS_OK)
        return false;
    bool allowed = decision.allowed;
    bs_decision_clear(&decision);
    return allowed;
}

bool bs_profile_allows_new(const struct bs_profile *profile, enum bs_op op, const char *dir) {
    char *path = NULL;
    if (asprintf(&path, "%s%s" BS_NEW_NAME, dir, dir[0] != '\0' ? "/" : "") < 0)
        return false;
    bool allowed = bs_profile_allows(profile, op, path);
    free(path);
    return allowed;
}

/* Whether anything at all is denied: by a rule, or because no rule allows everything. */
bool bs_profile_denies(const struct bs_profile *profile, enum bs_op op) {
    size_t n = 0;
    bool everything = false;
    const struct bs_entry *entries = profile != NULL ? bs_profile_entries(profile, op, &n) : NULL;
    if (profile == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (entries[i].negated)
            return true;
        if (entries[i].origin == BS_ENTRY_PROFILE && strcmp(entries[i].rule, "**") == 0)
            everything = true;
    }
    return !everything;
}

const struct bs_entry *bs_profile_denying(const struct bs_profile *profile, enum bs_op op,
                                          const char *path) {
    struct bs_decision decision;
    size_t n = 0;
    const struct bs_entry *entries = bs_profile_entries(profile, op, &n);
    const struct bs_entry *found = NULL;
    if (bs_profile_check(profile, op, path, strlen(path), &decision, NULL) != BS_OK)
        return NULL;
    for (size_t i = 0; !decision.allowed && found == NULL && i < n; i++) {
        if (entries[i].negated && strcmp(entries[i].rule, decision.matched_rule) == 0)
            found = &entries[i];
    }
    bs_decision_clear(&decision);
    return found;
}
