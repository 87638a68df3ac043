#include <stdlib.h>
#include <string.h>

#include "policy/matcher.h"
#include "policy/problem_at.h"
#include "policy/rule.h"
#include "policy/validate.h"

/* Denies with wildcards, the last first: the highest that matches is then the earliest. Compiled
 * when the first exception needs it: few files have denies that only a glob can tell apart. */
struct globs {
    struct bs_matcher *matcher;
    uint32_t *numbers; /* of the denies, by pattern */
    bool compiled;
    bool subtrees_only;
};

struct judge {
    const struct bs_rules *denies;
    struct bs_cover literal; /* what letters alone can tell */
    struct globs any;
    struct globs subtrees;
    struct bs_problems *problems;
    struct bs_error err;
};

static bool is_candidate(const struct bs_rule *deny, bool subtrees_only) {
    size_t top = bs_rule_subtree(deny->body, deny->len);
    if (deny->negated || (subtrees_only && top == 0))
        return false;
    return bs_rule_has_wildcards(deny->body, top > 0 ? top : deny->len);
}

static int compile(struct globs *globs, const struct bs_rules *denies, struct bs_error *err) {
    struct bs_pattern *patterns = malloc((denies->n + 1) * sizeof *patterns);
    globs->numbers = malloc((denies->n + 1) * sizeof *globs->numbers);
    size_t n = 0;
    int code = patterns != NULL && globs->numbers != NULL ? BS_OK : BS_E_EXECUTION;
    for (size_t i = denies->n; i > 0 && code == BS_OK; i--) {
        const struct bs_rule *deny = &denies->items[i - 1];
        if (!is_candidate(deny, globs->subtrees_only))
            continue;
        globs->numbers[n] = (uint32_t)(i - 1);
        patterns[n++] = (struct bs_pattern){deny->body, deny->len};
    }
    if (code == BS_OK && n > 0)
        code = bs_matcher_compile(patterns, n, false, &globs->matcher, err);
    free(patterns);
    globs->compiled = code == BS_OK;
    return code;
}

/* The number of the earliest deny whose glob matches, in *number. */
static int earliest(struct judge *judge, struct globs *globs, const char *path, size_t len,
                    uint32_t *number) {
    *number = BS_NO_COVER;
    int code = globs->compiled ? BS_OK : compile(globs, judge->denies, &judge->err);
    if (code != BS_OK || globs->matcher == NULL)
        return code;
    ptrdiff_t highest = bs_matcher_highest(globs->matcher, path, len);
    if (highest != BS_NO_RULE)
        *number = globs->numbers[highest];
    return BS_OK;
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
    int code = earliest(judge, top > 0 ? &judge->subtrees : &judge->any, rule->body,
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
    bs_matcher_free(judge.any.matcher);
    bs_matcher_free(judge.subtrees.matcher);
    free(judge.any.numbers);
    free(judge.subtrees.numbers);
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
