#include "policy/document/warn.h"

#include <stdlib.h>

#include "policy/match/matcher.h"
#include "policy/path/rule.h"

struct warner {
    const struct bs_policy *policy;
    struct bs_problems *warnings;
    const struct bs_denies *denies;
    struct bs_cover exceptions;
    /* the paths of the exceptions, without a `**` at the end, sorted by before() */
    struct bs_pattern *holes;
    size_t n_holes;
};

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static const char nothing_code[] = "matches-nothing";
static const char nothing_words[] =
    "paths that begin or end with a blank are refused, so this matches nothing";

static const char folder_code[] = "nothing-below";
static const char folder_words[] =
    "this matches the directory itself and no path below it: write `/**` at the end, not `/`";

/* True if the body begins or ends with a blank. Paths that begin or end with a blank are refused,
 * so the body matches nothing. Such a blank is only left in a body if a separator was next to it,
 * as in `./ x`. */
static bool matches_nothing(const struct bs_rule *rule) {
    return is_blank(rule->body[0]) || is_blank(rule->body[rule->len - 1]);
}

static void warn_denies(struct warner *w, const char *list, const struct bs_rules *rules) {
    bool reads = rules == &w->policy->deny_read;
    for (size_t i = 0; i < rules->n; i++) {
        const struct bs_rule *rule = &rules->items[i];
        if (matches_nothing(rule))
            bs_problem_at_deny(w->warnings, list, rule, nothing_code, nothing_words);
        if (rule->names_folder)
            bs_problem_at_deny(w->warnings, list, rule, folder_code, folder_words);
        if (reads && !bs_cover_covers(&w->denies->modify, rule))
            bs_problem_at_deny(w->warnings, list, rule, "read-deny-without-modify-deny",
                               "denyRead does not deny modify, and no denyModify covers this");
    }
}

/* Compare two patterns byte by byte. A separator is smaller than any other byte, so that the paths
 * below a path come directly after it. */
static int before(const void *a, const void *b) {
    const struct bs_pattern *x = a;
    const struct bs_pattern *y = b;
    size_t common = x->len < y->len ? x->len : y->len;
    size_t i = 0;
    while (i < common && x->text[i] == y->text[i])
        i++;
    if (i == common)
        return (x->len > y->len) - (x->len < y->len);
    if (x->text[i] == '/' || y->text[i] == '/')
        return x->text[i] == '/' ? -1 : 1;
    return (unsigned char)x->text[i] < (unsigned char)y->text[i] ? -1 : 1;
}

static bool note_holes(struct warner *w) {
    const struct bs_rules *rules = &w->policy->deny_modify;
    if (w->exceptions.is_empty)
        return true;
    w->holes = malloc(rules->n * sizeof *w->holes);
    if (w->holes == NULL)
        return false;
    for (size_t i = 0; i < rules->n; i++) {
        const struct bs_rule *rule = &rules->items[i];
        size_t top = bs_rule_subtree(rule->body, rule->len);
        if (rule->negated)
            w->holes[w->n_holes++] = (struct bs_pattern){rule->body, top > 0 ? top : rule->len};
    }
    qsort(w->holes, w->n_holes, sizeof *w->holes, before);
    return true;
}

/* True if an exception permits a path that the rule covers. */
static bool has_hole(const struct warner *w, const struct bs_rule *rule) {
    size_t top = bs_rule_subtree(rule->body, rule->len);
    struct bs_pattern from = {rule->body, top > 0 ? top : rule->len};
    size_t low = 0;
    for (size_t high = w->n_holes; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (before(&w->holes[middle], &from) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->n_holes &&
           bs_rule_covers(rule->body, rule->len, w->holes[low].text, w->holes[low].len);
}

/* True if an exception gives back paths that a deny takes from this rule. */
static bool is_reopened(const struct warner *w, const struct bs_rule *rule) {
    return !w->exceptions.is_empty && (has_hole(w, rule) || bs_cover_covers(&w->exceptions, rule));
}

static void warn_under_deny(struct warner *w, const struct bs_profile_rules *profile,
                            const char *list, const struct bs_rules *rules) {
    bool reads = rules == &profile->read;
    const struct bs_cover *denies = reads ? &w->denies->read : &w->denies->modify;
    for (size_t i = 0; i < rules->n && !denies->is_empty; i++) {
        const struct bs_rule *rule = &rules->items[i];
        if (!rule->negated && bs_cover_find(denies, rule, false).first != BS_NO_COVER &&
            (reads || !is_reopened(w, rule)))
            bs_problem_at_rule(w->warnings, profile, list, rule, "under-deny",
                               "a global deny covers this rule, so it allows nothing");
    }
}

static bool warn_negated_read(struct warner *w, const struct bs_profile_rules *profile) {
    struct bs_cover given = {0};
    struct bs_cover taken = {0};
    bool any = false;
    for (size_t i = 0; i < profile->read.n && !any; i++)
        any = profile->read.items[i].negated;
    if (!any || profile->modify.n == 0)
        return true;
    uint64_t seed = w->policy->seed;
    bool good = bs_cover_fill(&given, &profile->read, NULL, false, seed) &&
                bs_cover_fill(&taken, &profile->read, NULL, true, seed);
    for (size_t i = 0; i < profile->modify.n && good; i++) {
        const struct bs_rule *rule = &profile->modify.items[i];
        struct bs_span take = bs_cover_find(&taken, rule, true);
        if (rule->negated || take.first == BS_NO_COVER)
            continue;
        struct bs_span give = bs_cover_find(&given, rule, true);
        if (give.last == BS_NO_COVER || take.last > give.last)
            bs_problem_at_rule(w->warnings, profile, "modify", rule, "modify-under-negated-read",
                               "a later negated `read` rule covers this one: it can be written "
                               "and not read");
    }
    bs_cover_clear(&given);
    bs_cover_clear(&taken);
    return good;
}

/* Warn about rules that match no path, and about rules that match a directory only. */
static void warn_nothing(struct warner *w, const struct bs_profile_rules *profile, const char *list,
                         const struct bs_rules *rules) {
    for (size_t i = 0; i < rules->n; i++) {
        if (matches_nothing(&rules->items[i]))
            bs_problem_at_rule(w->warnings, profile, list, &rules->items[i], nothing_code,
                               nothing_words);
        if (rules->items[i].names_folder)
            bs_problem_at_rule(w->warnings, profile, list, &rules->items[i], folder_code,
                               folder_words);
    }
}

static bool warn_profile(struct warner *w, const struct bs_profile_rules *profile) {
    if (profile->read.n == 0)
        bs_problem_at_profile(w->warnings, profile, "empty-read",
                              "a profile without `read` rules allows nothing");
    warn_nothing(w, profile, "read", &profile->read);
    warn_nothing(w, profile, "modify", &profile->modify);
    warn_under_deny(w, profile, "read", &profile->read);
    warn_under_deny(w, profile, "modify", &profile->modify);
    return warn_negated_read(w, profile);
}

bool bs_policy_warn(const struct bs_policy *policy, const struct bs_denies *denies,
                    struct bs_problems *warnings) {
    struct warner w = {.policy = policy, .warnings = warnings, .denies = denies};
    bool good = bs_cover_fill(&w.exceptions, &policy->deny_modify, NULL, true, policy->seed) &&
                note_holes(&w);
    if (good) {
        warn_denies(&w, "denyRead", &policy->deny_read);
        warn_denies(&w, "denyModify", &policy->deny_modify);
    }
    for (size_t i = 0; i < policy->n_profiles && good; i++)
        good = warn_profile(&w, &policy->profiles[i]);
    bs_cover_clear(&w.exceptions);
    free(w.holes);
    return good && !warnings->failed;
}
