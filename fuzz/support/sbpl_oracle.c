#include "support/sbpl_oracle.h"

#include <stdio.h>
#include <string.h>

#include "support/glob_oracle.h"
#include "support/glob_probe.h"

bool bs_fuzz_is_within(const char *path, const char *place) {
    size_t len = strlen(place);
    return strcmp(place, "/") == 0 ||
           (strncmp(path, place, len) == 0 && (path[len] == '\0' || path[len] == '/'));
}

const char *bs_fuzz_sbpl_absolute(const struct bs_fuzz_sbpl *sbpl, struct bs_fuzz_text path) {
    if (path.len == 1 && path.text[0] == '.')
        return sbpl->root;
    size_t size = strlen(sbpl->root) + path.len + 2;
    char *text = bs_fuzz_take(sbpl->pool, size);
    (void)snprintf(text, size, "%s/%.*s", strcmp(sbpl->root, "/") == 0 ? "" : sbpl->root,
                   (int)path.len, path.text);
    return text;
}

/* Remove repeated `**` segments at the end of a rule, because they match the same paths as a single
 * one. */
static struct bs_fuzz_rule without_repeats(const struct bs_fuzz_sbpl *sbpl,
                                           const struct bs_fuzz_rule *rule) {
    struct bs_fuzz_rule shorter = *rule;
    for (size_t top = bs_fuzz_rule_top(&shorter); top > 0; top = bs_fuzz_rule_top(&shorter)) {
        const char *body = bs_fuzz_keep(sbpl->pool, shorter.body, top);
        const struct bs_fuzz_rule above = {.body = body, .len = top};
        if (strcmp(body, "**") != 0 && bs_fuzz_rule_top(&above) == 0)
            break;
        shorter.body = body;
        shorter.len = top;
    }
    return shorter;
}

static bool is_filter(const struct bs_fuzz_sbpl *sbpl, const struct bs_fuzz_rule *given,
                      const struct bs_seat_filter *filter) {
    const struct bs_fuzz_rule shorter = without_repeats(sbpl, given);
    const struct bs_fuzz_rule *rule = &shorter;
    size_t top = bs_fuzz_rule_top(rule);
    bool everything = strcmp(rule->body, "**") == 0;
    bool plain = strcspn(rule->body, "*?") >= (top > 0 ? top : rule->len);
    if (sbpl->folds || !(plain || everything))
        return filter->kind == BS_SEAT_REGEX;
    struct bs_fuzz_text place = {rule->body, top > 0 ? top : rule->len};
    if (everything)
        place = (struct bs_fuzz_text){".", 1};
    enum bs_seat_kind kind = top > 0 || everything ? BS_SEAT_SUBPATH : BS_SEAT_LITERAL;
    const char *expected = bs_fuzz_sbpl_absolute(sbpl, place);
    return filter->kind == kind && filter->len == strlen(expected) &&
           memcmp(filter->text, expected, filter->len) == 0;
}

static bool is_ascii(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (text[i] < 0x20 || text[i] > 0x7E)
            return false;
    }
    return true;
}

/* Compare the filter with the rule. Return a path that only one of them matches, or NULL. Outside
 * ASCII, the contract does not define what a `?` matches, and which characters are equal without
 * case. */
static const char *misread(const struct bs_fuzz_sbpl *sbpl, const struct bs_fuzz_rule *rule,
                           struct bs_seat_filter *filter) {
    struct bs_fuzz_text probes[BS_PROBES_MOST];
    size_t n = bs_fuzz_probes(rule->body, rule->len, sbpl->pool, probes);
    char *body = bs_fuzz_keep(sbpl->pool, rule->body, rule->len);
    if (sbpl->folds && !bs_fuzz_lower(body))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is_ascii(probes[i].text, probes[i].len))
            continue;
        const char *absolute = bs_fuzz_sbpl_absolute(sbpl, probes[i]);
        char *asked = bs_fuzz_keep(sbpl->pool, probes[i].text, probes[i].len);
        bool expected = !(sbpl->folds && !bs_fuzz_lower(asked)) &&
                        bs_oracle_glob_matches(body, rule->len, asked, probes[i].len);
        if (bs_seat_filter_matches(filter, absolute, strlen(absolute)) != expected)
            return absolute;
    }
    return NULL;
}

/* The position in the clauses. `why` stays NULL as long as no error is found. */
struct walk {
    const struct bs_fuzz_sbpl *sbpl;
    const struct bs_seatbelt *profile;
    size_t at;
    const char *why;
};

static void check_filter(struct walk *walk, const struct bs_fuzz_rule *rule,
                         struct bs_seat_filter *filter) {
    const char *path = misread(walk->sbpl, rule, filter);
    if (path == NULL)
        return;
    size_t size = strlen(path) + rule->len + 64;
    char *why = bs_fuzz_take(walk->sbpl->pool, size);
    (void)snprintf(why, size, "the filter of `%s` and the rule differ about `%s`", rule->body,
                   path);
    walk->why = why;
}

static void expect(struct walk *walk, bool allows, const char *op, const struct bs_fuzz_rule *first,
                   const struct bs_fuzz_rule *second) {
    if (walk->why != NULL)
        return;
    if (walk->at == walk->profile->n) {
        walk->why = "a clause is missing at the end";
        return;
    }
    struct bs_seat_clause *clause = &walk->profile->clauses[walk->at++];
    if (clause->allows != allows || strcmp(clause->op, op) != 0)
        walk->why = "a clause is missing, superfluous, or denies where it should allow";
    else if (clause->n_filters != (second != NULL ? 2U : 1U))
        walk->why = "a clause has another number of filters";
    else if (!is_filter(walk->sbpl, first, &clause->filters[0]) ||
             (second != NULL && !is_filter(walk->sbpl, second, &clause->filters[1])))
        walk->why = "a filter is not its rule's, or its string is not exactly the path";
    /* Each filter of a pair also occurs alone in another clause, and is checked there. */
    else if (second == NULL)
        check_filter(walk, first, &clause->filters[0]);
}

static void expect_modify(struct walk *walk) {
    const struct bs_fuzz_list *list = &walk->sbpl->resolved->modify;
    for (size_t i = 0; i < list->n; i++) {
        const struct bs_fuzz_entry *entry = &list->entries[i];
        expect(walk, entry->sign == BS_FUZZ_ALLOWS, "file-write*", entry->rule, NULL);
        for (size_t k = 0; k < list->n && entry->sign == BS_FUZZ_ASKS_OWN; k++) {
            if (list->entries[k].is_own)
                expect(walk, list->entries[k].sign == BS_FUZZ_ALLOWS, "file-write*", entry->rule,
                       list->entries[k].rule);
        }
    }
}

static void expect_read(struct walk *walk) {
    const struct bs_fuzz_list *list = &walk->sbpl->resolved->read;
    bool begun = false;
    for (size_t i = 0; i < list->n; i++) {
        begun = begun || list->entries[i].sign == BS_FUZZ_DENIES;
        if (begun)
            expect(walk, list->entries[i].sign == BS_FUZZ_ALLOWS, "file-read*",
                   list->entries[i].rule, NULL);
    }
}

static void expect_sides(struct walk *walk) {
    for (size_t i = 0; i < walk->sbpl->n_sides && walk->why == NULL; i++, walk->at++) {
        const struct bs_seat_clause *clause = &walk->profile->clauses[walk->at];
        if (walk->at == walk->profile->n || !clause->allows ||
            strcmp(clause->op, "file-write*") != 0 || clause->n_filters != 1 ||
            clause->filters[0].kind != BS_SEAT_SUBPATH ||
            strcmp(clause->filters[0].text, walk->sbpl->sides[i]) != 0)
            walk->why = "a side root is missing or another one";
    }
}

/* Find the clause that denies writing below the root. It is the first clause that denies
 * writing. */
static bool find_root(struct walk *walk) {
    while (walk->at < walk->profile->n && walk->profile->clauses[walk->at].allows)
        walk->at++;
    if (walk->at == walk->profile->n)
        return false;
    const struct bs_seat_clause *clause = &walk->profile->clauses[walk->at++];
    return strcmp(clause->op, "file-write*") == 0 && clause->n_filters == 1 &&
           clause->filters[0].kind == BS_SEAT_SUBPATH &&
           strcmp(clause->filters[0].text, walk->sbpl->root) == 0;
}

const char *bs_fuzz_sbpl_clauses(const struct bs_fuzz_sbpl *sbpl,
                                 const struct bs_seatbelt *profile) {
    struct walk walk = {sbpl, profile, 0, NULL};
    if (!find_root(&walk))
        return "the root is not denied before the rules";
    expect_modify(&walk);
    expect_read(&walk);
    expect_sides(&walk);
    for (; walk.at < profile->n && walk.why == NULL; walk.at++) {
        const struct bs_seat_clause *clause = &profile->clauses[walk.at];
        if (clause->allows || strcmp(clause->op, "file-write-unlink") != 0 ||
            clause->n_filters != 1)
            walk.why = "something else than denials to unlink stands at the end";
    }
    return walk.why;
}

static bool any_has(const struct bs_fuzz_list *list, bool (*has)(const struct bs_fuzz_rule *)) {
    for (size_t i = 0; i < list->n; i++) {
        if (has(list->entries[i].rule))
            return true;
    }
    return false;
}

static bool has_question(const struct bs_fuzz_rule *rule) {
    return strchr(rule->body, '?') != NULL;
}

/* True if the path must not be unlinked, because a read rule denies it, or because the literal part
 * of such a rule names a path below it. */
static bool is_guarded(const struct bs_fuzz_list *read, struct bs_fuzz_text path) {
    for (size_t i = 0; i < read->n; i++) {
        const struct bs_fuzz_rule *rule = read->entries[i].rule;
        if (read->entries[i].sign != BS_FUZZ_DENIES)
            continue;
        if (bs_oracle_glob_matches(rule->body, rule->len, path.text, path.len))
            return true;
        if (rule->len > path.len && memcmp(rule->body, path.text, path.len) == 0 &&
            rule->body[path.len] == '/' && strcspn(rule->body, "*?") > path.len)
            return true;
    }
    return false;
}

struct bs_fuzz_sbpl_answer bs_fuzz_sbpl_decide(const struct bs_fuzz_sbpl *sbpl,
                                               struct bs_fuzz_text path) {
    struct bs_fuzz_list read = sbpl->resolved->read;
    struct bs_fuzz_list modify = sbpl->resolved->modify;
    struct bs_fuzz_sbpl_answer answer = {.writes = false};
    bool ascii = is_ascii(path.text, path.len);
    const char *absolute = bs_fuzz_sbpl_absolute(sbpl, path);
    answer.only_denies = !ascii && (any_has(&read, has_question) || any_has(&modify, has_question));
    if (sbpl->folds) {
        char *lowered = bs_fuzz_keep(sbpl->pool, path.text, path.len);
        answer.is_open = !bs_fuzz_lower(lowered) ||
                         !bs_fuzz_lower_list(&sbpl->resolved->read, sbpl->pool, &read) ||
                         !bs_fuzz_lower_list(&sbpl->resolved->modify, sbpl->pool, &modify);
        path.text = lowered;
    }
    if (answer.is_open)
        return answer;
    struct bs_fuzz_answer reads = bs_fuzz_decide(&read, path.text, path.len, sbpl->pool);
    answer.reads = reads.deciding < 0 || reads.allowed;
    answer.writes = bs_fuzz_decide(&modify, path.text, path.len, sbpl->pool).allowed;
    for (size_t i = 0; i < sbpl->n_sides; i++)
        answer.writes = answer.writes || bs_fuzz_is_within(absolute, sbpl->sides[i]);
    answer.unlinks = answer.writes && !is_guarded(&read, path);
    return answer;
}

bool bs_fuzz_sbpl_meets_denied(const struct bs_fuzz_sbpl *sbpl, const char *side) {
    const struct bs_fuzz_list *read = &sbpl->resolved->read;
    for (size_t i = 0; i < read->n; i++) {
        const struct bs_fuzz_rule *rule = read->entries[i].rule;
        size_t len = strcspn(rule->body, "*?");
        if (read->entries[i].sign != BS_FUZZ_DENIES)
            continue;
        while (len > 0 && len < rule->len && rule->body[len] != '/')
            len--;
        if (len < rule->len && len > 0 && rule->body[len] != '/')
            len = 0;
        if (len == 0)
            continue;
        const char *place = bs_fuzz_sbpl_absolute(sbpl, (struct bs_fuzz_text){rule->body, len});
        if (bs_fuzz_is_within(place, side) || bs_fuzz_is_within(side, place))
            return true;
    }
    return false;
}
