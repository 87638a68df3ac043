#include "policy/match/matcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "policy/match/automaton.h"
#include "policy/match/tables.h"
#include "policy/match/tiers.h"
#include "policy/match/trie.h"
#include "policy/path/fold.h"

struct bs_matcher {
    bool fold;
    const char *tier;
    struct bs_tables tables;
    struct bs_trie trie;           /* without nodes: there is none */
    struct bs_automaton automaton; /* of the rules that are in neither */
    int32_t most_in_automaton;     /* or BS_NO_RULE */
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

static int over_budget(struct bs_error *err, size_t rule, const struct bs_pattern *pattern) {
    /* As much as a message can show without cutting a character. */
    size_t shown = bs_utf8_valid_prefix(pattern->text, pattern->len < 80 ? pattern->len : 80);
    return bs_fail(err, BS_E_INVALID, 0,
                   "the rules cannot be matched together within the budget: it ends at rule %zu of "
                   "the list, `%.*s`%s",
                   rule + 1, (int)shown, pattern->text, shown < pattern->len ? "..." : "");
}

static int no_memory(struct bs_error *err, size_t n) {
    return bs_fail(err, BS_E_EXECUTION, 0, "no memory for %zu rules", n);
}

/* A trie of the rules that are not left; those that it leaves are told to the caller. */
static int build_trie(struct bs_matcher *matcher, const struct bs_pattern *patterns, size_t n,
                      bool *left, struct bs_error *err) {
    size_t broke = 0;
    enum bs_trie_result result = bs_trie_build(&matcher->trie, patterns, n, left, &broke);
    if (result == BS_TRIE_NO_MEMORY)
        return no_memory(err, n);
    if (result == BS_TRIE_TOO_LARGE)
        return over_budget(err, broke, &patterns[broke]);
    if (result == BS_TRIE_UNFIT)
        memset(left, true, n * sizeof *left);
    else if (matcher->trie.nodes[0].most == BS_NO_RULE)
        bs_trie_clear(&matcher->trie); /* with nothing in it, it would only be in the way */
    return BS_OK;
}

static int build_automaton(struct bs_matcher *matcher, const struct bs_pattern *patterns, size_t n,
                           const bool *left, struct bs_error *err) {
    size_t states = 0;
    size_t n_left = 0;
    int code = BS_OK;
    struct bs_pattern *outside = calloc(n, sizeof *outside);
    uint32_t *rules = calloc(n, sizeof *rules);
    if (outside == NULL || rules == NULL) {
        code = no_memory(err, n);
        goto finish;
    }
    for (size_t i = 0; i < n; i++) {
        if (!left[i])
            continue;
        outside[n_left] = patterns[i];
        rules[n_left++] = (uint32_t)i;
        states += bs_automaton_states(&patterns[i]);
        if (states > BS_AUTOMATON_MOST_STATES) {
            code = over_budget(err, i, &patterns[i]);
            goto finish;
        }
        matcher->most_in_automaton = (int32_t)i;
    }
    if (n_left > 0 && !bs_automaton_build(&matcher->automaton, outside, rules, n_left, NULL))
        code = no_memory(err, n);
finish:
    free(outside);
    free(rules);
    return code;
}

/* Tables of what they read only a part of the path for, and a trie of the rest. Where that is too
 * much to ask, *done stays false and there is nothing. */
static int build_tables_first(struct bs_matcher *matcher, const struct bs_pattern *patterns,
                              size_t n, bool *left, bool *done, struct bs_error *err) {
    if (n > BS_DFA_MOST_STATES_IN)
        return BS_OK;
    bool any = false;
    size_t broke = 0;
    for (size_t i = 0; i < n; i++) {
        left[i] = !bs_tables_reads_all(&patterns[i]);
        any = any || !left[i];
    }
    enum bs_trie_result trie = BS_TRIE_OK;
    if (any)
        trie = bs_trie_build(&matcher->trie, patterns, n, left, &broke);
    enum bs_dfa_result tables = BS_DFA_TOO_LARGE;
    if (trie == BS_TRIE_OK)
        tables = bs_tables_build(&matcher->tables, patterns, n, left);
    *done = tables == BS_DFA_BUILT;
    matcher->tier = any ? "dfa+trie" : "dfa";
    if (!*done)
        bs_trie_clear(&matcher->trie);
    return trie == BS_TRIE_NO_MEMORY || tables == BS_DFA_NO_MEMORY ? no_memory(err, n) : BS_OK;
}

static int build_trie_first(struct bs_matcher *matcher, bool tables_too,
                            const struct bs_pattern *patterns, size_t n, bool *left,
                            struct bs_error *err) {
    memset(left, false, n * sizeof *left);
    int code = build_trie(matcher, patterns, n, left, err);
    enum bs_dfa_result tables = BS_DFA_TOO_LARGE;
    if (code == BS_OK && tables_too)
        tables = bs_tables_build(&matcher->tables, patterns, n, left);
    matcher->tier = matcher->trie.nodes != NULL ? "trie" : tables == BS_DFA_BUILT ? "dfa" : "rules";
    if (tables == BS_DFA_NO_MEMORY)
        return no_memory(err, n);
    if (code != BS_OK || tables == BS_DFA_BUILT)
        return code;
    return build_automaton(matcher, patterns, n, left, err);
}

static int build(struct bs_matcher *matcher, enum bs_tier tier, const struct bs_pattern *patterns,
                 size_t n, struct bs_error *err) {
    if (n == 0)
        return BS_OK;
    bool *left = calloc(n, sizeof *left);
    if (left == NULL)
        return no_memory(err, n);
    int code = BS_OK;
    bool done = false;
    if (tier == BS_TIER_DFA)
        code = build_tables_first(matcher, patterns, n, left, &done, err);
    if (tier == BS_TIER_RULES) {
        memset(left, true, n * sizeof *left);
        code = build_automaton(matcher, patterns, n, left, err);
    } else if (code == BS_OK && !done) {
        code = build_trie_first(matcher, tier != BS_TIER_LEAST_WORK, patterns, n, left, err);
    }
    free(left);
    return code;
}

int bs_matcher_compile_from(enum bs_tier tier, const struct bs_pattern *patterns, size_t n,
                            bool fold, struct bs_matcher **out, struct bs_error *err) {
    struct bs_matcher *matcher = calloc(1, sizeof *matcher);
    if (matcher == NULL)
        return no_memory(err, n);
    matcher->fold = fold;
    matcher->tier = "rules";
    matcher->tables.most = BS_NO_RULE;
    matcher->most_in_automaton = BS_NO_RULE;
    struct bs_pattern *folded = fold ? fold_patterns(patterns, n) : NULL;
    int code = fold && folded == NULL ? no_memory(err, n)
                                      : build(matcher, tier, fold ? folded : patterns, n, err);
    free(folded);
    if (code == BS_OK)
        *out = matcher;
    else
        bs_matcher_free(matcher);
    return code;
}

int bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                       struct bs_matcher **out, struct bs_error *err) {
    return bs_matcher_compile_from(BS_TIER_DFA, patterns, n, fold, out, err);
}

void bs_matcher_free(struct bs_matcher *matcher) {
    if (matcher == NULL)
        return;
    bs_trie_clear(&matcher->trie);
    bs_automaton_clear(&matcher->automaton);
    bs_tables_clear(&matcher->tables);
    free(matcher);
}

static ptrdiff_t highest(const struct bs_matcher *matcher, const struct bs_path_view *path) {
    int32_t best = BS_NO_RULE;
    if (matcher->tables.most > best)
        best = bs_tables_highest(&matcher->tables, path->text, path->len);
    if (matcher->trie.nodes != NULL)
        best = bs_trie_highest(&matcher->trie, path, best);
    if (matcher->most_in_automaton <= best)
        return best;
    ptrdiff_t rule = bs_automaton_highest(&matcher->automaton, path->text, path->len);
    return rule > best ? rule : best;
}

/* A path too long for the stack needs memory; without it nothing matches, and what nothing matches
 * is denied. */
__attribute__((noinline)) static ptrdiff_t highest_folded(const struct bs_matcher *matcher,
                                                          const struct bs_path_view *path) {
    char on_stack[BS_FOLD_ROOM(BS_FOLD_STACK_BYTES)];
    char *text = path->len <= BS_FOLD_STACK_BYTES ? on_stack : malloc(BS_FOLD_ROOM(path->len));
    struct bs_path_view folded = {.text = text};
    ptrdiff_t rule = BS_NO_RULE;
    if (text != NULL && bs_fold(path->text, path->len, text, &folded.len))
        rule = highest(matcher, &folded);
    if (text != on_stack)
        free(text);
    return rule;
}

ptrdiff_t bs_matcher_highest_seen(const struct bs_matcher *matcher,
                                  const struct bs_path_view *path) {
    static const struct bs_path_view root = {.text = "", .len = 0};
    if (path->len == 1 && path->text[0] == '.')
        path = &root;
    return matcher->fold ? highest_folded(matcher, path) : highest(matcher, path);
}

ptrdiff_t bs_matcher_highest(const struct bs_matcher *matcher, const char *path, size_t len) {
    const struct bs_path_view view = {.text = path, .len = len};
    return bs_matcher_highest_seen(matcher, &view);
}

struct bs_matcher_facts bs_matcher_facts(const struct bs_matcher *matcher) {
    const struct bs_dfa *front = &matcher->tables.front;
    const struct bs_dfa *back = &matcher->tables.back;
    return (struct bs_matcher_facts){
        .tier = matcher->tier,
        .bytes = sizeof *matcher + bs_trie_bytes(&matcher->trie) +
                 bs_automaton_bytes(&matcher->automaton) + front->bytes + back->bytes,
        .states = (size_t)matcher->trie.n_nodes + matcher->automaton.n_states + front->n_states +
                  back->n_states};
}
