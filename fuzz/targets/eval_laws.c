/* Generated policies and paths. The answers are compared with a plain evaluation, and checked by
 * laws that relate answers to each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/eval_case.h"
#include "support/fail.h"
#include "support/lie.h"
#include "support/path_model.h"

const char bs_fuzz_target[] = "eval_laws";

void bs_fuzz_describe(struct bs_fuzz_case *c, const uint8_t *data, size_t size) {
    bs_eval_case_describe(c, data, size);
}

static const enum bs_op ops[] = {BS_OP_READ, BS_OP_MODIFY};

static const char *word_of(enum bs_op op) { return op == BS_OP_READ ? "read" : "modify"; }

/* A path in normal form, and the decisions about it before a law changed the policy. */
struct query {
    struct bs_fuzz_text path;
    bool allowed[2];
    const char *rule[2];
};

static const struct bs_fuzz_list *list_of(const struct bs_fuzz_resolved *resolved, enum bs_op op) {
    return op == BS_OP_READ ? &resolved->read : &resolved->modify;
}

static void check_list(const struct bs_profile *profile, enum bs_op op,
                       const struct bs_fuzz_list *list, struct bs_fuzz_pool *pool) {
    size_t n = 0;
    const struct bs_entry *entries = bs_profile_entries(profile, op, &n);
    if (n != list->n || bs_fuzz_lie("list"))
        bs_fuzz_fail("list", "%s has %zu entries, expected %zu", word_of(op), n, list->n);
    for (size_t i = 0; i < n; i++) {
        const struct bs_fuzz_entry *expected = &list->entries[i];
        const struct bs_fuzz_rule *rule = expected->rule;
        const char *spelled = bs_fuzz_rule_spelled(rule, pool);
        bool placed = rule->place.line == 0
                          ? entries[i].source == BS_SYNTHESIZED && entries[i].line == 0
                          : entries[i].line == rule->place.line &&
                                entries[i].column == rule->place.column &&
                                (entries[i].source == BS_FROM_WORKSPACE) == rule->of_workspace;
        bool own = entries[i].origin == BS_ENTRY_PROFILE;
        bool excepts = entries[i].origin == BS_ENTRY_EXCEPTION;
        if (strcmp(entries[i].rule, spelled) != 0 || entries[i].rule_len != strlen(spelled) ||
            entries[i].negated != (expected->sign == BS_FUZZ_DENIES) || own != expected->is_own ||
            excepts != (expected->sign == BS_FUZZ_ASKS_OWN) || !placed)
            bs_fuzz_fail("list", "entry %zu of %s is `%s`, line %u; expected `%s`, line %u", i,
                         word_of(op), entries[i].rule, entries[i].line, spelled, rule->place.line);
    }
}

static void check_explained(const struct bs_profile *profile, enum bs_op op,
                            struct bs_fuzz_text path, struct bs_fuzz_answer expected) {
    struct bs_explanation explanation;
    struct bs_error err = BS_ERROR_INIT;
    if (bs_profile_explain(profile, op, path.text, path.len, &explanation, &err) != BS_OK)
        bs_fuzz_fail("explain", "not explained: %s", err.message);
    bool same = explanation.decision.allowed == expected.allowed && !bs_fuzz_lie("explain");
    for (size_t i = 0; i < explanation.n_entries && same; i++) {
        const struct bs_explained *entry = &explanation.entries[i];
        same = entry->deciding == ((ptrdiff_t)i == expected.deciding) &&
               (entry->matched || !entry->deciding);
    }
    if (!same)
        bs_fuzz_fail("explain", "%s `%.*s` is explained otherwise than it is decided", word_of(op),
                     (int)path.len, path.text);
    bs_explanation_clear(&explanation);
}

/* Query one path and check its answers. Returns false if the reference rightly refuses the path. */
static bool check_path(const struct bs_profile *profile, enum bs_op op, struct bs_fuzz_text query,
                       const char *normal, size_t len, bool refused, struct bs_decision *decision) {
    struct bs_error err = BS_ERROR_INIT;
    char *block = bs_fuzz_block(query.text, query.len);
    int code = bs_profile_check(profile, op, block, query.len, decision, &err);
    if ((code != BS_OK) != refused || bs_fuzz_lie("path"))
        bs_fuzz_fail("path", "`%.*s`: %s", (int)query.len, query.text,
                     code != BS_OK ? err.message : "accepted");
    if (code == BS_OK && (decision->path_len != len || memcmp(decision->path, normal, len) != 0))
        bs_fuzz_fail("path", "the normal form is `%.*s`, expected `%.*s`", (int)decision->path_len,
                     decision->path, (int)len, normal);
    free(block);
    return code == BS_OK;
}

static bool is_same(const struct bs_decision *decision, bool allowed, const char *rule) {
    return decision->allowed == allowed && strcmp(decision->matched_rule, rule) == 0 &&
           decision->matched_rule_len == strlen(rule);
}

/* Check that a spelling of a path is decided like its normal form. */
static void check_spelling(const struct bs_profile *profile, enum bs_op op,
                           struct bs_gen_policies *gen, const struct query *query) {
    struct bs_decision decision;
    struct bs_fuzz_text other = bs_gen_respelled(gen, query->path);
    if (query->path.len == 1 && query->path.text[0] == '.')
        return;
    if (check_path(profile, op, other, query->path.text, query->path.len, false, &decision) &&
        (!is_same(&decision, query->allowed[op], query->rule[op]) || bs_fuzz_lie("spelling")))
        bs_fuzz_fail("spelling", "%s `%.*s` is decided otherwise than `%.*s`", word_of(op),
                     (int)other.len, other.text, (int)query->path.len, query->path.text);
    bs_decision_clear(&decision);
}

/* Query and check every operation on one path. Returns false if the path is refused. */
static bool check_answers(const struct bs_profile *profile, const struct bs_fuzz_resolved *resolved,
                          struct bs_eval_case *input, struct bs_fuzz_text path,
                          struct query *query) {
    char *normal = bs_fuzz_take(&input->pool, path.len + 1);
    size_t len = 0;
    bool refused = bs_model_path(path.text, path.len, normal, &len) != NULL;
    query->path = (struct bs_fuzz_text){normal, len};
    for (size_t i = 0; i < 2; i++) {
        struct bs_decision decision;
        if (!check_path(profile, ops[i], path, normal, len, refused, &decision))
            continue;
        struct bs_fuzz_answer expected =
            bs_fuzz_decide(list_of(resolved, ops[i]), normal, len, &input->pool);
        if (!is_same(&decision, expected.allowed, expected.matched_rule) || bs_fuzz_lie("decision"))
            bs_fuzz_fail("decision", "%s `%.*s`: %s by `%s`, expected %s by `%s`", word_of(ops[i]),
                         (int)len, normal, decision.allowed ? "allowed" : "denied",
                         decision.matched_rule, expected.allowed ? "allowed" : "denied",
                         expected.matched_rule);
        query->allowed[i] = expected.allowed;
        query->rule[i] = expected.matched_rule;
        check_explained(profile, ops[i], path, expected);
        check_spelling(profile, ops[i], &input->gen, query);
        bs_decision_clear(&decision);
    }
    return !refused;
}

static struct bs_fuzz_node *rule_node(struct bs_eval_case *input, struct bs_fuzz_text body) {
    struct bs_fuzz_node *node = bs_fuzz_take(&input->pool, sizeof *node);
    *node = (struct bs_fuzz_node){.kind = BS_FUZZ_STRING, .text = body.text, .len = body.len};
    return node;
}

static bool append(struct bs_eval_case *input, struct bs_fuzz_node *list,
                   struct bs_fuzz_text body) {
    if (list == NULL || list->kind != BS_FUZZ_LIST)
        return false;
    struct bs_fuzz_node **link = &list->first;
    while (*link != NULL)
        link = &(*link)->next;
    const char *front = bs_gen_shielded(body, "");
    char *text = bs_fuzz_take(&input->pool, strlen(front) + body.len + 1);
    int len =
        snprintf(text, strlen(front) + body.len + 1, "%s%.*s", front, (int)body.len, body.text);
    *link = rule_node(input, (struct bs_fuzz_text){text, (size_t)len});
    return true;
}

static struct bs_fuzz_node *spec_of(const struct bs_eval_case *input) {
    return bs_fuzz_member(input->workspace != NULL ? input->workspace : input->global, "spec");
}

static struct bs_fuzz_node *profile_of(const struct bs_eval_case *input) {
    const char *name = input->profile != NULL ? input->profile : BS_UNRESTRICTED;
    return bs_fuzz_member(bs_fuzz_member(spec_of(input), "fsProfiles"), name);
}

/* How decisions may differ after a change of the policy: not at all, never from denied to allowed,
 * or never from allowed to denied. */
enum law { STAYS, NEVER_MORE, NEVER_LESS };

static void check_law(const struct bs_eval_case *input, const char *oracle, enum law law,
                      const struct query *query, size_t n) {
    struct bs_profile *profile = bs_eval_compile(input, 0);
    for (size_t i = 0; i < 2 * n && profile != NULL; i++) {
        const struct query *each = &query[i / 2];
        enum bs_op op = ops[i % 2];
        struct bs_decision decision;
        if (bs_profile_check(profile, op, each->path.text, each->path.len, &decision, NULL) !=
            BS_OK)
            bs_fuzz_fail(oracle, "`%.*s` is refused now", (int)each->path.len, each->path.text);
        bool broken = (law == NEVER_MORE && decision.allowed && !each->allowed[op]) ||
                      (law == NEVER_LESS && !decision.allowed && each->allowed[op]) ||
                      (law == STAYS && !is_same(&decision, each->allowed[op], each->rule[op]));
        if (broken || bs_fuzz_lie(oracle))
            bs_fuzz_fail(oracle, "%s `%.*s` was %s by `%s` and is now %s by `%s`", word_of(op),
                         (int)each->path.len, each->path.text,
                         each->allowed[op] ? "allowed" : "denied", each->rule[op],
                         decision.allowed ? "allowed" : "denied", decision.matched_rule);
        bs_decision_clear(&decision);
    }
    bs_profile_free(profile);
}

/* Repeat a rule of the list directly after it. */
static bool repeat(struct bs_eval_case *input, struct bs_fuzz_node *list) {
    if (list == NULL || list->kind != BS_FUZZ_LIST || list->first == NULL)
        return false;
    struct bs_fuzz_node *rule = list->first;
    for (uint32_t skip = bs_fuzz_below(&input->from, 8); skip > 0 && rule->next != NULL; skip--)
        rule = rule->next;
    if (rule->kind != BS_FUZZ_STRING)
        return false;
    struct bs_fuzz_node *copy = rule_node(input, (struct bs_fuzz_text){rule->text, rule->len});
    copy->next = rule->next;
    rule->next = copy;
    return true;
}

/* Check one law in each case, because each law changes the policy and needs another load. */
static void check_laws(struct bs_eval_case *input, const struct query *query, size_t n) {
    struct bs_fuzz_node *spec = spec_of(input);
    struct bs_fuzz_node *own = profile_of(input);
    struct bs_fuzz_node *const lists[] = {
        bs_fuzz_member(spec, "denyRead"), bs_fuzz_member(spec, "denyModify"),
        bs_fuzz_member(own, "read"), bs_fuzz_member(own, "modify")};
    struct bs_fuzz_text body = bs_gen_rule_body(&input->gen);
    uint32_t number = input->law % 12;
    if (number < 4 && append(input, lists[number % 2], body))
        check_law(input, "deny", NEVER_MORE, query, n);
    else if (number >= 4 && number < 8 && append(input, lists[2], body) &&
             (number % 2 == 0 || append(input, lists[3], body)))
        check_law(input, "allow", NEVER_LESS, query, n);
    else if (number >= 8 && repeat(input, lists[number % 4]))
        check_law(input, "repeat", STAYS, query, n);
}

/* Check that, on a case-insensitive file system, a path in ASCII capitals is decided like the same
 * path in small letters. */
static void check_folded(const struct bs_eval_case *input, const struct bs_fuzz_load *load,
                         const struct bs_fuzz_resolved *resolved, const struct query *query,
                         size_t n, struct bs_fuzz_pool *pool) {
    struct bs_profile *profile = NULL;
    if (bs_profile_compile(load->policy, input->profile, BS_FOLD, &profile, NULL) != BS_OK)
        return;
    for (size_t i = 0; i < 2 * n; i++) {
        struct bs_fuzz_text path = query[i / 2].path;
        struct bs_fuzz_list list;
        struct bs_decision decision;
        char *lowered = bs_fuzz_keep(pool, path.text, path.len);
        char *capitals = bs_fuzz_keep(pool, path.text, path.len);
        for (char *c = capitals; *c != '\0'; c++)
            *c = (char)(*c >= 'a' && *c <= 'z' ? *c - ('a' - 'A') : *c);
        if (!bs_fuzz_lower(lowered) ||
            !bs_fuzz_lower_list(list_of(resolved, ops[i % 2]), pool, &list))
            continue;
        struct bs_fuzz_answer expected = bs_fuzz_decide(&list, lowered, path.len, pool);
        if (bs_profile_check(profile, ops[i % 2], capitals, path.len, &decision, NULL) != BS_OK ||
            decision.allowed != expected.allowed || bs_fuzz_lie("fold"))
            bs_fuzz_fail("fold", "%s `%.*s` is decided otherwise by folding", word_of(ops[i % 2]),
                         (int)path.len, path.text);
        bs_decision_clear(&decision);
        check_explained(profile, ops[i % 2], (struct bs_fuzz_text){capitals, path.len}, expected);
    }
    bs_profile_free(profile);
}

static void judge_profile(struct bs_eval_case *input, const struct bs_fuzz_load *load,
                          const struct bs_fuzz_policy *policy) {
    struct bs_fuzz_resolved resolved;
    struct bs_profile *profile = NULL;
    struct bs_error err = BS_ERROR_INIT;
    struct query query[BS_EVAL_MOST_PATHS];
    size_t n = 0;
    bool known = bs_fuzz_resolve(policy, input->profile, &input->pool, &resolved);
    int code = bs_profile_compile(load->policy, input->profile, 0, &profile, &err);
    if ((code == BS_OK) != known || bs_fuzz_lie("profile"))
        bs_fuzz_fail("profile", "profile `%s`: %s", input->profile,
                     code != BS_OK ? err.message : "compiled");
    if (!known)
        return;
    if (strcmp(bs_profile_name(profile), resolved.name) != 0 ||
        bs_profile_is_synthesized(profile) != resolved.synthesized)
        bs_fuzz_fail("profile", "the profile is called `%s`", bs_profile_name(profile));
    for (size_t i = 0; i < 2; i++)
        check_list(profile, ops[i], list_of(&resolved, ops[i]), &input->pool);
    for (size_t i = 0; i < input->n_paths; i++)
        n += check_answers(profile, &resolved, input, input->paths[i], &query[n]);
    bs_profile_free(profile);
    if (n > 0 && input->law % 4 == 3)
        check_folded(input, load, &resolved, query, n, &input->pool);
    if (n > 0)
        check_laws(input, query, n);
}

/* The law of long rules takes as long as many others together, so it gets a byte value that engines
 * rarely insert. */
enum { LONGEST_LAW = 0xB7 };

/* Check a rule without wildcards that is too long for an automaton. It must decide about and
 * explain exactly the path that it names. */
static void check_longest(struct bs_fuzz_pool *pool) {
    enum { LONGEST = 129 * 1024 };
    static const char front[] = "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":"
                                "\"p\"},\"spec\":{\"denyModify\":[],\"fsProfiles\":{},"
                                "\"denyRead\":[\"";
    static const char back[] = "\"]}}";
    char *json = bs_fuzz_take(pool, sizeof front + LONGEST + sizeof back);
    char *name = json + sizeof front - 1;
    memcpy(json, front, sizeof front);
    memset(name, 'a', LONGEST);
    memcpy(name + LONGEST, back, sizeof back);
    const struct bs_policy_text text = {json, strlen(json), BS_POLICY_JSON};
    struct bs_fuzz_load load;
    struct bs_profile *profile = NULL;
    bs_fuzz_load(&text, NULL, &load);
    if (load.code != BS_OK || bs_profile_compile(load.policy, NULL, 0, &profile, NULL) != BS_OK)
        bs_fuzz_fail("list", "a rule of %d bytes is refused", LONGEST);
    for (size_t less = 0; less < 2; less++) {
        struct bs_fuzz_text path = {name, LONGEST - less};
        struct bs_fuzz_answer expected = {less > 0, NULL, less > 0 ? 0 : 1};
        struct bs_decision decision;
        if (check_path(profile, BS_OP_READ, path, name, path.len, false, &decision) &&
            decision.allowed != expected.allowed)
            bs_fuzz_fail("decision", "%zu bytes against a rule of %d", path.len, LONGEST);
        if (less == 0)
            check_explained(profile, BS_OP_READ, path, expected);
        bs_decision_clear(&decision);
    }
    bs_profile_free(profile);
    bs_fuzz_load_clear(&load);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bs_eval_case input;
    struct bs_policy_text texts[2] = {{NULL, 0, BS_POLICY_JSON}, {NULL, 0, BS_POLICY_JSON}};
    struct bs_fuzz_load load;
    struct bs_fuzz_verdict verdict;
    bs_fuzz_begin(data, size);
    bs_eval_case_read(&input, data, size);
    bs_eval_case_write(&input, &texts[0], &texts[1]);
    bs_fuzz_load_written(&texts[0], input.workspace != NULL ? &texts[1] : NULL, &input.pool, &load,
                         &verdict);
    if (load.code == BS_OK)
        judge_profile(&input, &load, &verdict.policy);
    if (input.law == LONGEST_LAW)
        check_longest(&input.pool);
    bs_fuzz_load_clear(&load);
    bs_fuzz_text_free(&texts[0]);
    bs_fuzz_text_free(&texts[1]);
    bs_eval_case_clear(&input);
    return 0;
}
