#include "policy/matcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policy/automaton.h"
#include "policy/fold.h"

struct bs_matcher {
    bool fold;
    struct bs_automaton automaton;
};

/* Folded copies of the patterns, the texts in one block behind the list. */
static struct bs_pattern *fold_patterns(const struct bs_pattern *patterns, size_t n) {
    size_t room = 0;
    for (size_t i = 0; i < n; i++)
        room += BS_FOLD_ROOM(patterns[i].len);
    struct bs_pattern *folded = malloc(n * sizeof *folded + room + 1);
    if (folded == NULL)
        return NULL;
    char *text = (char *)(folded + n);
    for (size_t i = 0; i < n; i++) {
        folded[i].text = text;
        if (!bs_fold(patterns[i].text, patterns[i].len, text, &folded[i].len)) {
            free(folded);
            return NULL;
        }
        text += folded[i].len;
    }
    return folded;
}

static int check_budget(const struct bs_pattern *patterns, size_t n, struct bs_error *err) {
    size_t states = 0;
    for (size_t i = 0; i < n; i++) {
        states += bs_automaton_states(&patterns[i]);
        if (states > BS_AUTOMATON_MOST_STATES)
            return bs_fail(err, BS_E_INVALID, 0,
                           "the rules are too many or too long to be matched together: the budget "
                           "of %u states ends at rule %zu, `%.64s`",
                           BS_AUTOMATON_MOST_STATES, i + 1, patterns[i].text);
    }
    return BS_OK;
}

int bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                       struct bs_matcher **out, struct bs_error *err) {
    int code = BS_E_EXECUTION;
    struct bs_pattern *folded = NULL;
    struct bs_matcher *matcher = calloc(1, sizeof *matcher);
    if (matcher == NULL)
        goto finish;
    matcher->fold = fold;
    if (fold) {
        patterns = folded = fold_patterns(patterns, n);
        if (folded == NULL)
            goto finish;
    }
    code = check_budget(patterns, n, err);
    if (code == BS_OK && !bs_automaton_build(&matcher->automaton, patterns, NULL, n))
        code = BS_E_EXECUTION;
    if (code == BS_OK) {
        *out = matcher;
        matcher = NULL;
    }
finish:
    if (code == BS_E_EXECUTION)
        bs_fail(err, code, 0, "no memory for %zu rules", n);
    free(folded);
    bs_matcher_free(matcher);
    return code;
}

void bs_matcher_free(struct bs_matcher *matcher) {
    if (matcher == NULL)
        return;
    bs_automaton_clear(&matcher->automaton);
    free(matcher);
}

static ptrdiff_t highest(const struct bs_matcher *matcher, const char *path, size_t len) {
    return bs_automaton_highest(&matcher->automaton, path, len);
}

/* A path too long for the stack needs memory; without it nothing matches, and what nothing matches
 * is denied. */
__attribute__((noinline)) static ptrdiff_t highest_folded(const struct bs_matcher *matcher,
                                                          const char *path, size_t len) {
    char on_stack[BS_FOLD_ROOM(BS_FOLD_STACK_BYTES)];
    char *folded = len <= BS_FOLD_STACK_BYTES ? on_stack : malloc(BS_FOLD_ROOM(len));
    ptrdiff_t rule = BS_NO_RULE;
    if (folded != NULL && bs_fold(path, len, folded, &len))
        rule = highest(matcher, folded, len);
    if (folded != on_stack)
        free(folded);
    return rule;
}

ptrdiff_t bs_matcher_highest(const struct bs_matcher *matcher, const char *path, size_t len) {
    if (len == 1 && path[0] == '.')
        len = 0;
    return matcher->fold ? highest_folded(matcher, path, len) : highest(matcher, path, len);
}

struct bs_matcher_facts bs_matcher_facts(const struct bs_matcher *matcher) {
    return (struct bs_matcher_facts){"rules", bs_automaton_bytes(&matcher->automaton),
                                     matcher->automaton.n_states};
}
