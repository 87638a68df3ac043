#include "policy/profile/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

static int compile(struct bs_profile *profile, const struct bs_list *list, size_t n,
                   struct bs_decider *decider, struct bs_error *err) {
    decider->outcomes = bs_arena_zeroed(profile->arena, n + 1, sizeof *decider->outcomes);
    if (decider->outcomes == NULL)
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for %zu rules", n);
    const char *none = list->has_positive ? BS_NO_MATCHING_RULE : BS_NO_POSITIVE_RULE;
    decider->outcomes[0] = (struct bs_outcome){none, strlen(none), false, false};
    for (size_t i = 0; i < n; i++) {
        const struct bs_entry *entry = &list->entries[i];
        bool exception = entry->origin == BS_ENTRY_EXCEPTION;
        decider->outcomes[i + 1] = (struct bs_outcome){entry->rule, entry->rule_len,
                                                       !entry->negated && !exception, exception};
    }
    if (n == 0)
        return BS_OK;
    return bs_matcher_compile(list->patterns, n, profile->fold, &decider->matcher, err);
}

int bs_profile_compile(const struct bs_policy *policy, const char *name, unsigned flags,
                       struct bs_profile **out, struct bs_error *err) {
    int code = BS_E_EXECUTION;
    struct bs_profile *profile = calloc(1, sizeof *profile);
    if (profile != NULL)
        profile->arena = bs_arena_new(BS_ARENA_ROOM);
    if (profile == NULL || profile->arena == NULL) {
        (void)bs_fail(err, code, 0, "out of memory for a profile");
        goto finish;
    }
    profile->fold = (flags & BS_FOLD) != 0;
    code = bs_effective_profile(policy, name, profile->arena, &profile->effective, err);
    const struct bs_list *lists = profile->effective.lists;
    for (int op = BS_OP_READ; op <= BS_OP_MODIFY && code == BS_OK; op++)
        code = compile(profile, &lists[op], lists[op].n, &profile->full[op], err);
    if (code == BS_OK && lists[BS_OP_MODIFY].has_exceptions)
        code =
            compile(profile, &lists[BS_OP_MODIFY], lists[BS_OP_MODIFY].n_own, &profile->own, err);
    if (code == BS_OK) {
        *out = profile;
        profile = NULL;
    }
finish:
    bs_profile_free(profile);
    return code;
}

void bs_profile_free(struct bs_profile *profile) {
    if (profile == NULL)
        return;
    bs_matcher_free(profile->full[BS_OP_READ].matcher);
    bs_matcher_free(profile->full[BS_OP_MODIFY].matcher);
    bs_matcher_free(profile->own.matcher);
    bs_arena_free(profile->arena);
    free(profile);
}

const char *bs_profile_name(const struct bs_profile *profile) { return profile->effective.name; }

bool bs_profile_folds(const struct bs_profile *profile) { return profile->fold; }

bool bs_profile_is_synthesized(const struct bs_profile *profile) {
    return profile->effective.synthesized;
}

const struct bs_entry *bs_profile_entries(const struct bs_profile *profile, enum bs_op op,
                                          size_t *n) {
    *n = profile->effective.lists[op].n;
    return profile->effective.lists[op].entries;
}

static inline ptrdiff_t highest(const struct bs_decider *decider, const struct bs_path_view *path) {
    return decider->matcher != NULL ? bs_matcher_highest_view(decider->matcher, path) : BS_NO_RULE;
}

/* inline for the check below; other files call it as well */
inline const struct bs_outcome *bs_profile_outcome(const struct bs_profile *profile, enum bs_op op,
                                                   const struct bs_path_view *path,
                                                   ptrdiff_t *deciding) {
    const struct bs_decider *decider = &profile->full[op];
    ptrdiff_t index = highest(decider, path);
    if (index != BS_NO_MEMORY && decider->outcomes[index + 1].own_rules_decide) {
        decider = &profile->own;
        index = highest(decider, path);
    }
    if (index == BS_NO_MEMORY)
        return NULL;
    if (deciding != NULL)
        *deciding = index;
    return &decider->outcomes[index + 1];
}

static int no_memory_for(size_t len, struct bs_error *err) {
    return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a path of %zu bytes", len);
}

/* Return a buffer for the normal form of a path: the one in the decision, or allocated memory for a
 * long path. NULL if memory ran out. */
static char *buffer_for(struct bs_decision *decision, size_t len) {
    decision->owned = NULL;
    if (len <= BS_CHECK_PATH_BYTES)
        return decision->buffer;
    decision->owned = malloc(len + 1);
    return decision->owned;
}

int bs_profile_check(const struct bs_profile *profile, enum bs_op op, const char *path, size_t len,
                     struct bs_decision *decision, struct bs_error *err) {
    struct bs_path_view view;
    char *buffer = buffer_for(decision, len);
    if (buffer == NULL)
        return no_memory_for(len, err);
    const char *problem = bs_path_view(path, len, buffer, &view);
    if (problem != NULL) {
        bs_decision_clear(decision);
        return bs_fail(err, BS_E_INVALID, 0, "%s", problem);
    }
    const struct bs_outcome *outcome = bs_profile_outcome(profile, op, &view, NULL);
    if (outcome == NULL) {
        bs_decision_clear(decision);
        return no_memory_for(len, err);
    }
    decision->allowed = outcome->allowed;
    decision->matched_rule = outcome->rule;
    decision->matched_rule_len = outcome->rule_len;
    decision->path = view.text;
    decision->path_len = view.len;
    return BS_OK;
}

void bs_decision_clear(struct bs_decision *decision) {
    free(decision->owned);
    decision->owned = NULL;
}
