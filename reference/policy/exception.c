#include <stdlib.h>
#include <string.h>

#include "policy/automaton.h"
#include "policy/dfa.h"
#include "policy/matcher.h"
#include "policy/problem_at.h"
#include "policy/rule.h"
#include "policy/validate.h"

/* What asking an automaton may cost before a matcher is compiled, in steps of 64 states: about as
 * much as that costs, whose tables grow with the states. Of more states it builds no tables. */
enum { STEPS_A_STATE = 128, AUTOMATON_STATES = BS_DFA_MOST_STATES_IN };

/* Denies with wildcards, the last first: the highest that matches is then the earliest. Looked for
 * when the first exception needs them: few files have denies that only a glob can tell apart. Most
 * of those have few exceptions, for which a matcher would be compiled in vain. */
struct globs {
    struct bs_pattern *patterns;
    uint32_t *numbers; /* of the denies, by pattern */
    size_t n;
    size_t states;
    bool gathered;
    bool subtrees_only;
    struct bs_automaton automaton; /* asked while it may take steps */
    size_t steps_left;
    struct bs_matcher *matcher; /* asked then */
    int refused;                /* to compile it: how, or 0 */
};

struct judge {
    const struct bs_rules *denies;
    struct bs_cover literal; /* what letters alone can tell */
    struct globs any;
    struct globs subtrees;
    struct bs_problems *problems;
};

static bool is_candidate(const struct bs_rule *deny, bool subtrees_only) {
    size_t top = bs_rule_subtree(deny->body, deny->len);
    if (deny->negated || (subtrees_only && top == 0))
        return false;
    return bs_rule_has_wildcards(deny->body, top > 0 ? top : deny->len);
}

static int gather(struct globs *globs, const struct bs_rules *denies) {
    globs->patterns = malloc((denies->n + 1) * sizeof *globs->patterns);
    globs->numbers = malloc((denies->n + 1) * sizeof *globs->numbers);
    if (globs->patterns == NULL || globs->numbers == NULL)
        return BS_E_EXECUTION;
    for (size_t i = denies->n; i > 0; i--) {
        const struct bs_rule *deny = &denies->items[i - 1];
        if (!is_candidate(deny, globs->subtrees_only))
            continue;
        globs->numbers[globs->n] = (uint32_t)(i - 1);
        globs->patterns[globs->n] = (struct bs_pattern){deny->body, deny->len};
        globs->states += bs_automaton_states(&globs->patterns[globs->n++]);
    }
    globs->gathered = true;
    if (globs->n == 0 || globs->states > AUTOMATON_STATES)
        return BS_OK;
    globs->steps_left = globs->states * STEPS_A_STATE;
    return bs_automaton_build(&globs->automaton, globs->patterns, NULL, globs->n) ? BS_OK
                                                                                  : BS_E_EXECUTION;
}

/* What does not compile is not tried again for the next exception. */
static int highest(struct globs *globs, const char *path, size_t len, ptrdiff_t *rule) {
    size_t steps = (len + 1) * globs->automaton.words;
    if (globs->steps_left > steps) {
        bool root = len == 1 && path[0] == '.';
        globs->steps_left -= steps;
        *rule = bs_automaton_highest(&globs->automaton, path, root ? 0 : len);
        return BS_OK;
    }
    globs->steps_left = 0;
    if (globs->matcher == NULL && globs->refused == BS_OK)
        globs->refused =
            bs_matcher_compile(globs->patterns, globs->n, false, &globs->matcher, NULL);
    if (globs->refused == BS_OK)
        *rule = bs_matcher_highest(globs->matcher, path, len);
    return globs->refused;
}

/* The number of the earliest deny whose glob matches, in *number. */
static int earliest(struct globs *globs, const struct bs_rules *denies, const char *path,
                    size_t len, uint32_t *number) {
    ptrdiff_t rule = BS_NO_RULE;
    *number = BS_NO_COVER;
    int code = globs->gathered ? BS_OK : gather(globs, denies);
    if (code == BS_OK && globs->n > 0)
        code = highest(globs, path, len, &rule);
    if (rule != BS_NO_RULE)
        *number = globs->numbers[rule];
    return code;
}

static void clear(struct globs *globs) {
    bs_automaton_clear(&globs->automaton);
    bs_matcher_free(globs->matcher);
    free(globs->patterns);
    free(globs->numbers);
}

/* An exact path or a subtree of one: everything else could open more than its author sees. */
static bool has_right_form(const struct bs_rule *rule, struct bs_problems *problems) {
    size_t top = bs_rule_subtree(rule->body, rule->len);
    if (!bs_rule_has_wildcards(rule->body, top > 0 ? top : rule->len))
        return true;
    bs_problem_at_deny(problems, "denyModify", rule, NULL,
                       "an exception is an exact path or a subtree of one, without wildcards");
    return false;
}

static int judge_own(struct judge *judge, uint32_t number) {
    const struct bs_rule *rule = &judge->denies->items[number];
    if (bs_cover_find(&judge->literal, rule, false).first < number)
        return BS_OK;
    size_t top = bs_rule_subtree(rule->body, rule->len);
    uint32_t by_glob = BS_NO_COVER;
    int code = earliest(top > 0 ? &judge->subtrees : &judge->any, judge->denies, rule->body,
                        top > 0 ? top : rule->len, &by_glob);
    if (code == BS_E_EXECUTION)
        return code;
    if (code == BS_E_INVALID)
        bs_problem_at_deny(judge->problems, "denyModify", rule, NULL,
                           "the denies before this exception are too many to be judged");
    else if (by_glob >= number)
        bs_problem_at_deny(judge->problems, "denyModify", rule, NULL,
                           "an exception lies inside an earlier deny of the list, and no earlier "
                           "one holds this");
    return BS_OK;
}

static bool judge_all_own(const struct bs_rules *denies, uint64_t seed,
                          struct bs_problems *problems) {
    struct judge judge = {
        .denies = denies, .problems = problems, .subtrees = {.subtrees_only = true}};
    int code = bs_cover_fill(&judge.literal, denies, NULL, false, seed) ? BS_OK : BS_E_EXECUTION;
    for (uint32_t i = 0; i < denies->n && code == BS_OK; i++) {
        const struct bs_rule *rule = &denies->items[i];
        if (rule->negated && has_right_form(rule, problems))
            code = judge_own(&judge, i);
    }
    bs_cover_clear(&judge.literal);
    clear(&judge.any);
    clear(&judge.subtrees);
    return code == BS_OK;
}

/* A workspace may repeat or narrow the holes that the global policy leaves, and make none. */
static bool judge_by_global(const struct bs_rules *denies, const struct bs_rules *global,
                            uint64_t seed, struct bs_problems *problems) {
    struct bs_cover holes = {0};
    if (!bs_cover_fill(&holes, global, NULL, true, seed))
        return false;
    for (size_t i = 0; i < denies->n; i++) {
        const struct bs_rule *rule = &denies->items[i];
        if (rule->negated && has_right_form(rule, problems) && !bs_cover_covers(&holes, rule))
            bs_problem_at_deny(problems, "denyModify", rule, NULL,
                               "a workspace cannot make exceptions; this one equals no exception "
                               "of the global policy and lies inside none");
    }
    bs_cover_clear(&holes);
    return true;
}

bool bs_validate_exceptions(const struct bs_policy *policy, const struct bs_policy *above,
                            struct bs_problems *problems) {
    bool any = false;
    for (size_t i = 0; i < policy->deny_modify.n && !any; i++)
        any = policy->deny_modify.items[i].negated;
    bool good =
        !any || (above != NULL ? judge_by_global(&policy->deny_modify, &above->deny_modify,
                                                 policy->seed, problems)
                               : judge_all_own(&policy->deny_modify, policy->seed, problems));
    return good && !problems->failed;
}
