#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "policy/document/validate.h"
#include "policy/match/backtrack.h"
#include "policy/match/matcher.h"
#include "policy/path/rule.h"

/* Limits on matching denies one by one. STEPS_A_BYTE is the number of steps for each byte of the
 * denies, about as many as compiling a matcher takes. If the denies have more than MOST_BYTES, only
 * a compiled matcher is used. Compiling so many rules may fail, and then it must fail for every
 * exception alike. */
enum { STEPS_A_BYTE = 64, MOST_BYTES = 32 * 1024 };

/* The denies with wildcards. At first they are matched one by one, because in most files few
 * exceptions need them. When the permitted steps are used up, all denies are compiled into one
 * matcher. The matcher has the denies in reverse order, so that its highest match is the earliest
 * deny. */
struct globs {
    bool subtrees_only;
    size_t steps_left;
    struct bs_matcher *matcher;
    uint32_t *numbers; /* number of the deny for each pattern of the matcher */
    bool compiled;
    int refused; /* error code of compiling the matcher, or 0 */
};

struct judge {
    const struct bs_rules *denies;
    /* denies that can be compared with an exception by their text, without matching wildcards */
    struct bs_cover literal;
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

static size_t steps_for(const struct bs_rules *denies) {
    size_t bytes = 0;
    for (size_t i = 0; i < denies->n; i++)
        bytes += denies->items[i].negated ? 0 : denies->items[i].len;
    return bytes <= MOST_BYTES ? bytes * STEPS_A_BYTE : 0;
}

/* Compile without tables, because building tables takes longer than the tables would save for a
 * list of exceptions. */
static int compile(struct globs *globs, const struct bs_rules *denies) {
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
        code =
            bs_matcher_compile_from(BS_TIER_LEAST_WORK, patterns, n, false, &globs->matcher, NULL);
    free(patterns);
    return code;
}

/* Match with the matcher of all denies. The first call compiles it. If this fails, later calls do
 * not try again. */
static int ask_together(struct globs *globs, const struct bs_rules *denies, uint32_t number,
                        const char *path, size_t len, bool *held) {
    ptrdiff_t highest = BS_NO_RULE;
    if (!globs->compiled)
        globs->refused = compile(globs, denies);
    globs->compiled = true;
    if (globs->matcher != NULL)
        highest = bs_matcher_highest(globs->matcher, path, len);
    *held = highest != BS_NO_RULE && globs->numbers[highest] < number;
    return globs->refused;
}

/* Return an estimate of the steps of matching: in the worst case each byte of the glob is compared
 * with each byte of the path. */
static size_t steps_of(const struct bs_rule *deny, size_t len) {
    return 1 + deny->len * len / BS_WORD_BYTES;
}

/* Set *held to whether a deny with a lower number than `number` matches the path. */
static int ask(struct globs *globs, const struct bs_rules *denies, uint32_t number,
               const char *path, size_t len, bool *held) {
    *held = false;
    for (uint32_t i = 0; i < number && globs->steps_left > 0 && !*held; i++) {
        const struct bs_rule *deny = &denies->items[i];
        const struct bs_pattern pattern = {deny->body, deny->len};
        if (!is_candidate(deny, globs->subtrees_only))
            continue;
        size_t steps = steps_of(deny, len);
        bool spent = steps >= globs->steps_left || !bs_backtrack_fits(&pattern);
        globs->steps_left = spent ? 0 : globs->steps_left - steps;
        *held = !spent && bs_backtrack_matches(&pattern, path, len);
    }
    if (*held || globs->steps_left > 0)
        return BS_OK;
    return ask_together(globs, denies, number, path, len, held);
}

static void clear(struct globs *globs) {
    bs_matcher_free(globs->matcher);
    free(globs->numbers);
}

/* True if an exception is an exact path or a subtree of one. Any other exception could permit more
 * than its author expects. */
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
    bool held = false;
    int code = ask(top > 0 ? &judge->subtrees : &judge->any, judge->denies, number, rule->body,
                   top > 0 ? top : rule->len, &held);
    if (code == BS_E_EXECUTION)
        return code;
    if (code == BS_E_INVALID)
        bs_problem_at_deny(judge->problems, "denyModify", rule, NULL,
                           "this exception cannot be checked: too many denies precede it");
    else if (!held)
        bs_problem_at_deny(judge->problems, "denyModify", rule, NULL,
                           "no earlier deny of the list contains this exception");
    return BS_OK;
}

static bool judge_all_own(const struct bs_rules *denies, uint64_t seed,
                          struct bs_problems *problems) {
    struct judge judge = {
        .denies = denies, .problems = problems, .subtrees = {.subtrees_only = true}};
    judge.any.steps_left = judge.subtrees.steps_left = steps_for(denies);
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

/* Check exceptions of a workspace. An exception may repeat or narrow an exception of the global
 * policy, but not permit more. */
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
