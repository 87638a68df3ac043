#include "policy/matcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "policy/automaton.h"
#include "policy/dfa.h"
#include "policy/fold.h"
#include "policy/tiers.h"
#include "policy/trie.h"

/* A table of 256 KiB, which stays in the second cache, and some 10 ms to build it. */
static const struct bs_dfa_limits table_limits = {65536, 8000000};

struct bs_matcher {
    bool fold;
    struct bs_trie trie;           /* without nodes: there is none */
    struct bs_automaton automaton; /* of the rules that are not in the trie */
    struct bs_dfa dfa;             /* ... and then the automaton is cleared */
    int32_t most_outside;          /* the highest rule that is not in the trie, or BS_NO_RULE */
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

/* The rules outside the trie, in one automaton and if possible as a table. With `only_table`
 * nothing is built and nothing fails where a table is too much to ask. */
static int build_outside(struct bs_matcher *matcher, const struct bs_pattern *patterns, size_t n,
                         const bool *left, bool only_table, struct bs_error *err) {
    size_t states = 0;
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        if (left != NULL && !left[i])
            continue;
        n_left++;
        states += bs_automaton_states(&patterns[i]);
        if (only_table && states > BS_DFA_MOST_STATES_IN)
            return BS_OK;
        if (states > BS_AUTOMATON_MOST_STATES)
            return over_budget(err, i, &patterns[i]);
        matcher->most_outside = (int32_t)i;
    }
    struct bs_pattern *outside = calloc(n_left + 1, sizeof *outside);
    uint32_t *rules = calloc(n_left + 1, sizeof *rules);
    bool built = false;
    enum bs_dfa_result result = BS_DFA_NO_MEMORY;
    if (outside != NULL && rules != NULL) {
        size_t at = 0;
        for (size_t i = 0; i < n; i++) {
            if (left != NULL && !left[i])
                continue;
            outside[at] = patterns[i];
            rules[at++] = (uint32_t)i;
        }
        built = bs_automaton_build(&matcher->automaton, outside, rules, n_left);
        if (built)
            result = bs_dfa_build(&matcher->dfa, &matcher->automaton, table_limits);
    }
    free(outside);
    free(rules);
    if (result == BS_DFA_BUILT || only_table || !built)
        bs_automaton_clear(&matcher->automaton);
    return result == BS_DFA_NO_MEMORY ? no_memory(err, n) : BS_OK;
}

static int build(struct bs_matcher *matcher, enum bs_tier tier, const struct bs_pattern *patterns,
                 size_t n, struct bs_error *err) {
    if (n == 0)
        return BS_OK;
    if (tier == BS_TIER_DFA) {
        int code = build_outside(matcher, patterns, n, NULL, true, err);
        if (code != BS_OK || matcher->dfa.next != NULL)
            return code;
    }
    matcher->most_outside = BS_NO_RULE;
    bool *left = calloc(n, sizeof *left);
    if (left == NULL)
        return no_memory(err, n);
    size_t broke = 0;
    enum bs_trie_result result = BS_TRIE_UNFIT;
    if (tier != BS_TIER_RULES)
        result = bs_trie_build(&matcher->trie, patterns, n, left, &broke);
    /* With nothing in it, it would only be in the way. */
    if (result == BS_TRIE_OK && matcher->trie.nodes[0].most == BS_NO_RULE)
        bs_trie_clear(&matcher->trie);
    int code = BS_OK;
    if (result == BS_TRIE_NO_MEMORY)
        code = no_memory(err, n);
    else if (result == BS_TRIE_TOO_LARGE)
        code = over_budget(err, broke, &patterns[broke]);
    else
        code = build_outside(matcher, patterns, n, result == BS_TRIE_OK ? left : NULL, false, err);
    free(left);
    return code;
}

int bs_matcher_compile_from(enum bs_tier tier, const struct bs_pattern *patterns, size_t n,
                            bool fold, struct bs_matcher **out, struct bs_error *err) {
    struct bs_matcher *matcher = calloc(1, sizeof *matcher);
    if (matcher == NULL)
        return no_memory(err, n);
    matcher->fold = fold;
    matcher->most_outside = BS_NO_RULE;
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
    bs_dfa_clear(&matcher->dfa);
    free(matcher);
}

static ptrdiff_t highest(const struct bs_matcher *matcher, const char *path, size_t len) {
    ptrdiff_t inside = BS_NO_RULE;
    if (matcher->trie.nodes != NULL)
        inside = bs_trie_highest(&matcher->trie, path, len);
    if (matcher->most_outside <= inside)
        return inside;
    ptrdiff_t outside = matcher->dfa.next != NULL
                            ? bs_dfa_answer(&matcher->dfa, path, len)
                            : bs_automaton_highest(&matcher->automaton, path, len);
    return outside > inside ? outside : inside;
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
    struct bs_matcher_facts facts = {"rules", 0, 0};
    if (matcher->trie.nodes != NULL)
        facts.tier = "trie";
    else if (matcher->dfa.next != NULL)
        facts.tier = "dfa";
    facts.bytes = sizeof *matcher + bs_trie_bytes(&matcher->trie) +
                  bs_automaton_bytes(&matcher->automaton) + matcher->dfa.bytes;
    facts.states =
        (size_t)matcher->trie.n_nodes + matcher->automaton.n_states + matcher->dfa.n_states;
    return facts;
}
