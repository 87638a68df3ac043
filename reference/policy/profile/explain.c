#include "policy/profile/check.h"

#include <stdlib.h>

#include "base/error.h"
#include "policy/match/automaton.h"
#include "policy/match/backtrack.h"
#include "policy/path/fold.h"

/* Use backtracking if possible, because an automaton would be built for only one match. */
bool bs_matches_pattern(const struct bs_pattern *pattern, struct bs_path_view path, bool *matched) {
    struct bs_automaton automaton = {0};
    if (path.len == 1 && path.text[0] == '.')
        path.len = 0;
    if (bs_backtrack_fits(pattern)) {
        *matched = bs_backtrack_matches(pattern, path.text, path.len);
        return true;
    }
    if (!bs_automaton_build(&automaton, pattern, NULL, 1, NULL))
        return false;
    *matched = bs_automaton_highest(&automaton, path.text, path.len) != BS_NO_RULE;
    bs_automaton_clear(&automaton);
    return true;
}

static bool matches_folded(const struct bs_pattern *pattern, struct bs_path_view path,
                           bool *matched) {
    char *text = malloc(BS_FOLD_ROOM(pattern->len));
    struct bs_pattern folded = {text, 0};
    bool good = text != NULL && bs_fold(pattern->text, pattern->len, text, &folded.len) &&
                bs_matches_pattern(&folded, path, matched);
    free(text);
    return good;
}

bool bs_note_matches(const struct bs_list *list, bool fold, struct bs_path_view path,
                     bool *matched) {
    char *text = NULL;
    bool good = true;
    if (path.len == 1 && path.text[0] == '.')
        path.len = 0;
    if (fold) {
        text = malloc(BS_FOLD_ROOM(path.len));
        good = text != NULL && bs_fold(path.text, path.len, text, &path.len);
        path.text = text;
    }
    for (size_t i = 0; i < list->n && good; i++)
        good = fold ? matches_folded(&list->patterns[i], path, &matched[i])
                    : bs_matches_pattern(&list->patterns[i], path, &matched[i]);
    free(text);
    return good;
}

int bs_profile_explain(const struct bs_profile *profile, enum bs_op op, const char *path,
                       size_t len, struct bs_explanation *explanation, struct bs_error *err) {
    const struct bs_list *list = &profile->effective.lists[op];
    struct bs_decision *decision = &explanation->decision;
    bool *matched = NULL;
    ptrdiff_t deciding = BS_NO_RULE;
    explanation->entries = NULL;
    explanation->n_entries = list->n;
    int code = bs_profile_check(profile, op, path, len, decision, err);
    if (code != BS_OK)
        return code;
    struct bs_path_view view = {.text = decision->path, .len = decision->path_len};
    explanation->entries = calloc(list->n + 1, sizeof *explanation->entries);
    matched = calloc(list->n + 1, sizeof *matched);
    if (explanation->entries == NULL || matched == NULL ||
        !bs_note_matches(list, profile->fold, view, matched) ||
        bs_profile_outcome(profile, op, &view, &deciding) == NULL) {
        code = bs_fail(err, BS_E_EXECUTION, 0, "out of memory for the explanation of %zu rules",
                       list->n);
        bs_explanation_clear(explanation);
        goto finish;
    }
    for (size_t i = 0; i < list->n; i++)
        explanation->entries[i] =
            (struct bs_explained){&list->entries[i], matched[i], (ptrdiff_t)i == deciding};
finish:
    free(matched);
    return code;
}

void bs_explanation_clear(struct bs_explanation *explanation) {
    bs_decision_clear(&explanation->decision);
    free(explanation->entries);
    explanation->entries = NULL;
    explanation->n_entries = 0;
}
