#define _GNU_SOURCE
#include "backend/plan/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return the decision about the path, or `without_memory` if memory ran out. */
static bool decide(const struct bs_profile *profile, enum bs_op op, const char *path,
                   bool without_memory) {
    struct bs_decision decision;
    int code = bs_profile_check(profile, op, path, strlen(path), &decision, NULL);
    /* A path that the policy refuses counts as denied. */
    if (code != BS_OK)
        return code == BS_E_EXECUTION && without_memory;
    bool allowed = decision.allowed;
    bs_decision_clear(&decision);
    return allowed;
}

static bool decide_new(const struct bs_profile *profile, enum bs_op op, const char *dir,
                       bool without_memory) {
    char *path = NULL;
    if (asprintf(&path, "%s%s" BS_NEW_NAME, dir, dir[0] != '\0' ? "/" : "") < 0)
        return without_memory;
    bool allowed = decide(profile, op, path, without_memory);
    free(path);
    return allowed;
}

bool bs_profile_allows(const struct bs_profile *profile, enum bs_op op, const char *path) {
    return decide(profile, op, path, false);
}

bool bs_profile_allows_new(const struct bs_profile *profile, enum bs_op op, const char *dir) {
    return decide_new(profile, op, dir, false);
}

bool bs_profile_may_allow_new(const struct bs_profile *profile, enum bs_op op, const char *dir) {
    return decide_new(profile, op, dir, true);
}

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

bool bs_profile_denying(const struct bs_profile *profile, enum bs_op op, const char *path,
                        const struct bs_entry **entry) {
    struct bs_decision decision;
    size_t n = 0;
    const struct bs_entry *entries = bs_profile_entries(profile, op, &n);
    *entry = NULL;
    int code = bs_profile_check(profile, op, path, strlen(path), &decision, NULL);
    if (code != BS_OK)
        return code != BS_E_EXECUTION;
    for (size_t i = 0; !decision.allowed && *entry == NULL && i < n; i++) {
        if (entries[i].negated && strcmp(entries[i].rule, decision.matched_rule) == 0)
            *entry = &entries[i];
    }
    bs_decision_clear(&decision);
    return true;
}
