#include "policy/match/matcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "policy/match/automaton.h"
#include "policy/match/index.h"
#include "policy/match/tables.h"
#include "policy/path/fold.h"

struct bs_matcher {
    bool fold;
    const char *tier;
    struct bs_tables tables;
    struct bs_index index;
    /* matches the rules that are neither in the tables nor in the index */
    struct bs_automaton automaton;
    int32_t most_in_automaton; /* highest rule of the automaton, or BS_NO_RULE */
};

/* Return folded copies of the patterns, or NULL. One block has the list, followed by the texts. */
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
    /* Show the beginning of the pattern, without cutting a character in two. */
    size_t shown = bs_utf8_valid_prefix(pattern->text, pattern->len < 80 ? pattern->len : 80);
    return bs_fail(err, BS_E_INVALID, 0,
                   "the rules cannot be matched together within the budget: it ends at rule %zu of "
                   "the list, `%.*s`%s",
                   rule + 1, (int)shown, pattern->text, shown < pattern->len ? "..." : "");
}

static int no_memory(struct bs_error *err, size_t n) {
    return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for %zu rules", n);
}

/* A matcher that is being built. */
struct builder {
    struct bs_matcher *matcher;
    const struct bs_pattern *patterns;
    size_t n;
    bool *left; /* for each rule: true until a part of the matcher contains it */
    struct bs_error *err;
};

static int out_of_memory(const struct builder *builder) {
    return no_memory(builder->err, builder->n);
}

/* The rules that neither the tables nor the index contain. */
struct outside {
    struct bs_pattern *patterns;
    uint32_t *rules;
    size_t n;
};

static int gather(const struct builder *builder, struct outside *outside) {
    size_t states = 0;
    for (size_t i = 0; i < builder->n; i++) {
        const struct bs_pattern *pattern = &builder->patterns[i];
        if (!builder->left[i])
            continue;
        outside->patterns[outside->n] = *pattern;
        outside->rules[outside->n++] = (uint32_t)i;
        states += bs_automaton_states(pattern);
        if (states > BS_AUTOMATON_MOST_STATES)
            return over_budget(builder->err, i, pattern);
    }
    return BS_OK;
}

static int build_automaton(const struct builder *builder) {
    struct bs_matcher *matcher = builder->matcher;
    struct outside outside = {calloc(builder->n, sizeof *outside.patterns),
                              calloc(builder->n, sizeof *outside.rules), 0};
    int code = outside.patterns != NULL && outside.rules != NULL ? gather(builder, &outside)
                                                                 : out_of_memory(builder);
    if (code == BS_OK && outside.n > 0) {
        matcher->most_in_automaton = (int32_t)outside.rules[outside.n - 1];
        if (!bs_automaton_build(&matcher->automaton, outside.patterns, outside.rules, outside.n,
                                NULL))
            code = out_of_memory(builder);
    }
    free(outside.patterns);
    free(outside.rules);
    return code;
}

/* Build tables, and an index for the rules for which a table would have to read the whole path. If
 * the tables become too large, *done stays false and nothing is built. */
static int build_tables(const struct builder *builder, bool *done) {
    struct bs_matcher *matcher = builder->matcher;
    if (builder->n > BS_DFA_MOST_STATES_IN)
        return BS_OK;
    for (size_t i = 0; i < builder->n; i++)
        builder->left[i] = !bs_tables_reads_all(&builder->patterns[i]);
    if (!bs_index_build(&matcher->index, builder->patterns, builder->n, false, builder->left))
        return out_of_memory(builder);
    enum bs_dfa_result tables =
        bs_tables_build(&matcher->tables, builder->patterns, builder->n, builder->left);
    *done = tables == BS_DFA_BUILT;
    matcher->tier = matcher->index.most != BS_NO_RULE ? "tables+index" : "tables";
    if (!*done)
        bs_index_clear(&matcher->index);
    return tables == BS_DFA_NO_MEMORY ? out_of_memory(builder) : BS_OK;
}

static bool fits_automaton(const struct builder *builder) {
    size_t states = 0;
    for (size_t i = 0; i < builder->n; i++)
        states += builder->left[i] ? bs_automaton_states(&builder->patterns[i]) : 0;
    return states <= BS_AUTOMATON_MOST_STATES;
}

/* Build an index, and tables or an automaton for the rules that have no key. If these rules fit
 * into neither, they are added to the index too. */
static int build_index(const struct builder *builder, bool tables_too) {
    struct bs_matcher *matcher = builder->matcher;
    enum bs_dfa_result tables = BS_DFA_TOO_LARGE;
    for (int keyless_too = 0; keyless_too < 2; keyless_too++) {
        memset(builder->left, false, builder->n * sizeof *builder->left);
        bs_index_clear(&matcher->index);
        if (!bs_index_build(&matcher->index, builder->patterns, builder->n, keyless_too == 1,
                            builder->left))
            return out_of_memory(builder);
        if (tables_too)
            tables =
                bs_tables_build(&matcher->tables, builder->patterns, builder->n, builder->left);
        if (tables == BS_DFA_NO_MEMORY)
            return out_of_memory(builder);
        if (tables == BS_DFA_BUILT || fits_automaton(builder))
            break;
    }
    matcher->tier = matcher->index.most != BS_NO_RULE ? "index"
                    : tables == BS_DFA_BUILT          ? "tables"
                                                      : "automaton";
    return tables == BS_DFA_BUILT ? BS_OK : build_automaton(builder);
}

static int build(const struct builder *builder, enum bs_tier tier) {
    bool done = false;
    int code = BS_OK;
    if (tier == BS_TIER_AUTOMATON) {
        memset(builder->left, true, builder->n * sizeof *builder->left);
        return build_automaton(builder);
    }
    if (tier == BS_TIER_TABLES)
        code = build_tables(builder, &done);
    return code == BS_OK && !done ? build_index(builder, tier != BS_TIER_LEAST_WORK) : code;
}

int bs_matcher_compile_from(enum bs_tier tier, const struct bs_pattern *patterns, size_t n,
                            bool fold, struct bs_matcher **out, struct bs_error *err) {
    int code = BS_E_EXECUTION;
    bool *left = calloc(n + 1, sizeof *left);
    struct bs_pattern *folded = fold ? fold_patterns(patterns, n) : NULL;
    struct bs_matcher *matcher = calloc(1, sizeof *matcher);
    if (left == NULL || matcher == NULL || (fold && folded == NULL)) {
        (void)no_memory(err, n);
        goto finish;
    }
    matcher->fold = fold;
    matcher->tier = "automaton";
    matcher->tables.most = BS_NO_RULE;
    matcher->most_in_automaton = BS_NO_RULE;
    bs_index_clear(&matcher->index);
    const struct builder builder = {matcher, fold ? folded : patterns, n, left, err};
    code = n > 0 ? build(&builder, tier) : BS_OK;
finish:
    free(folded);
    free(left);
    if (code == BS_OK)
        *out = matcher;
    else
        bs_matcher_free(matcher);
    return code;
}

int bs_matcher_compile(const struct bs_pattern *patterns, size_t n, bool fold,
                       struct bs_matcher **out, struct bs_error *err) {
    return bs_matcher_compile_from(BS_TIER_TABLES, patterns, n, fold, out, err);
}

void bs_matcher_free(struct bs_matcher *matcher) {
    if (matcher == NULL)
        return;
    bs_index_clear(&matcher->index);
    bs_automaton_clear(&matcher->automaton);
    bs_tables_clear(&matcher->tables);
    free(matcher);
}

static ptrdiff_t highest(const struct bs_matcher *matcher, const struct bs_path_view *path) {
    int32_t best = BS_NO_RULE;
    if (matcher->tables.most > best)
        best = bs_tables_highest(&matcher->tables, path->text, path->len);
    if (matcher->index.most > best)
        best = bs_index_highest(&matcher->index, path, best);
    if (matcher->most_in_automaton <= best)
        return best;
    ptrdiff_t rule = bs_automaton_highest(&matcher->automaton, path->text, path->len);
    return rule > best ? rule : best;
}

/* Not inlined, because folding needs much stack, which a match without folding should not use. */
__attribute__((noinline)) static ptrdiff_t highest_folded(const struct bs_matcher *matcher,
                                                          const struct bs_path_view *path) {
    char on_stack[BS_FOLD_ROOM(BS_FOLD_STACK_BYTES)];
    char *text = path->len <= BS_FOLD_STACK_BYTES ? on_stack : malloc(BS_FOLD_ROOM(path->len));
    struct bs_path_view folded = {.text = text};
    ptrdiff_t rule = BS_NO_MEMORY;
    if (text != NULL && bs_fold(path->text, path->len, text, &folded.len))
        rule = highest(matcher, &folded);
    if (text != on_stack)
        free(text);
    return rule;
}

ptrdiff_t bs_matcher_highest_view(const struct bs_matcher *matcher,
                                  const struct bs_path_view *path) {
    static const struct bs_path_view root = {.text = "", .len = 0};
    if (path->len == 1 && path->text[0] == '.')
        path = &root;
    return matcher->fold ? highest_folded(matcher, path) : highest(matcher, path);
}

ptrdiff_t bs_matcher_highest(const struct bs_matcher *matcher, const char *path, size_t len) {
    const struct bs_path_view view = {.text = path, .len = len};
    return bs_matcher_highest_view(matcher, &view);
}

struct bs_matcher_facts bs_matcher_facts(const struct bs_matcher *matcher) {
    const struct bs_dfa *front = &matcher->tables.front;
    const struct bs_dfa *back = &matcher->tables.back;
    return (struct bs_matcher_facts){
        .tier = matcher->tier,
        .bytes = sizeof *matcher + bs_index_bytes(&matcher->index) +
                 bs_automaton_bytes(&matcher->automaton) + front->bytes + back->bytes,
        .states = (size_t)matcher->index.n_buckets + matcher->automaton.n_states + front->n_states +
                  back->n_states};
}
