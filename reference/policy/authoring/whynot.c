#include <boxspec/profile.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policy/match/matcher.h"
#include "policy/path/rule.h"
#include "policy/profile/check.h"

/* The search for remedies. The decision about the path changes only if the entry that decides is
 * removed, or if an entry is added after it. So each step tries every way to overrule the entry
 * that decides at that moment. The search tries remedies of one change first, then of two, and so
 * on. So it finds all remedies of the smallest size. */
struct search {
    const struct bs_profile *profile;
    const struct bs_list *list;
    enum bs_op op;
    struct bs_pattern path; /* the path, as the body of a rule */
    const bool *matched;    /* true for each entry of the list that matches the path */
    /* true for each entry that the remedy removes; one array for each operation */
    bool *removed[2];
    bool adds_rule;
    bool adds_exception[2]; /* the index is the file that gets the exception */
    struct bs_remedy now;
    size_t limit;
    struct bs_why_not *out;
    bool failed;
};

struct verdict {
    bool allowed;
    /* the entry that denies; BS_NO_RULE if the path is denied because no rule matches */
    ptrdiff_t culprit;
};

static struct verdict decide_own(const struct search *search) {
    if (search->adds_rule)
        return (struct verdict){true, BS_NO_RULE};
    for (size_t i = search->list->n_own; i > 0; i--) {
        if (search->matched[i - 1] && !search->removed[search->op][i - 1])
            return (struct verdict){!search->list->entries[i - 1].negated, (ptrdiff_t)i - 1};
    }
    return (struct verdict){false, BS_NO_RULE};
}

static struct verdict decide(const struct search *search) {
    const struct bs_list *list = search->list;
    if (search->adds_exception[BS_FROM_WORKSPACE])
        return decide_own(search);
    for (size_t i = list->n; i > list->n_own; i--) {
        const struct bs_entry *entry = &list->entries[i - 1];
        if (search->adds_exception[BS_FROM_GLOBAL] && entry->source == BS_FROM_GLOBAL)
            break;
        if (!search->matched[i - 1] || search->removed[search->op][i - 1])
            continue;
        if (entry->origin == BS_ENTRY_EXCEPTION)
            break;
        return (struct verdict){false, (ptrdiff_t)i - 1};
    }
    return decide_own(search);
}

static bool equals_path(const struct search *search, const struct bs_pattern *body) {
    return body->len == search->path.len && memcmp(body->text, search->path.text, body->len) == 0;
}

static bool is_deny(const struct bs_entry *entry) {
    return entry->origin == BS_ENTRY_DENY_READ || entry->origin == BS_ENTRY_DENY_MODIFY;
}

/* True if the remedy also needs a read rule, because a path that may be modified must be
 * readable. */
static bool needs_read_rule(const struct search *search) {
    const struct bs_list *read = &search->profile->effective.lists[BS_OP_READ];
    for (size_t i = 0; i < read->n_own && search->op == BS_OP_MODIFY; i++) {
        if (!read->entries[i].negated &&
            bs_rule_covers(read->patterns[i].text, read->patterns[i].len, search->path.text,
                           search->path.len))
            return false;
    }
    return search->op == BS_OP_MODIFY;
}

/* True if an exception of the global policy lies inside an earlier deny that the remedy does not
 * remove. `body` is the exception and `end` its index. */
static bool is_inside_deny(struct search *search, const struct bs_pattern *body, size_t end) {
    const struct bs_list *list = &search->profile->effective.lists[BS_OP_MODIFY];
    size_t top = bs_rule_subtree(body->text, body->len);
    struct bs_path_view place = {.text = body->text, .len = top > 0 ? top : body->len};
    for (size_t i = list->n_own; i < end; i++) {
        const struct bs_pattern *deny = &list->patterns[i];
        bool is_subtree = bs_rule_subtree(deny->text, deny->len) > 0 ||
                          (deny->len == 2 && memcmp(deny->text, "**", 2) == 0);
        bool equal = deny->len == body->len && memcmp(deny->text, body->text, deny->len) == 0;
        bool inside = false;
        if (search->removed[BS_OP_MODIFY][i] || !is_deny(&list->entries[i]) ||
            list->entries[i].source != BS_FROM_GLOBAL || equal || (top > 0 && !is_subtree))
            continue;
        if (!bs_matches_pattern(deny, place, &inside))
            search->failed = true;
        if (inside)
            return true;
    }
    return false;
}

/* True if the exception lies inside an exception of the global policy, as every exception of a
 * workspace must. */
static bool is_inside_exception(const struct search *search, const struct bs_pattern *body) {
    const struct bs_list *list = &search->profile->effective.lists[BS_OP_MODIFY];
    for (size_t i = list->n_own; i < list->n; i++) {
        if (list->entries[i].origin == BS_ENTRY_EXCEPTION &&
            list->entries[i].source == BS_FROM_GLOBAL && !search->removed[BS_OP_MODIFY][i] &&
            bs_rule_covers(list->patterns[i].text, list->patterns[i].len, body->text, body->len))
            return true;
    }
    return false;
}

static bool may_add_exception(struct search *search, enum bs_policy_source source) {
    if (search->op != BS_OP_MODIFY || bs_rule_has_wildcards(search->path.text, search->path.len))
        return false;
    return source == BS_FROM_WORKSPACE ? is_inside_exception(search, &search->path)
                                       : is_inside_deny(search, &search->path, search->list->n);
}

static bool is_in(const struct bs_remedy *remedy, const struct bs_change *change) {
    for (size_t i = 0; i < remedy->n_changes; i++) {
        const struct bs_change *other = &remedy->changes[i];
        if (other->kind == change->kind && other->entry == change->entry &&
            other->op == change->op && other->source == change->source)
            return true;
    }
    return false;
}

/* True if the same remedy was found before. The order of the changes does not matter. */
static bool is_known(const struct search *search) {
    const struct bs_why_not *out = search->out;
    for (size_t i = 0; i < out->n_remedies; i++) {
        size_t same = 0;
        while (same < search->now.n_changes && is_in(&out->remedies[i], &search->now.changes[same]))
            same++;
        if (same == search->now.n_changes && same == out->remedies[i].n_changes)
            return true;
    }
    return false;
}

static void note_remedy(struct search *search) {
    struct bs_why_not *out = search->out;
    if (is_known(search))
        return;
    struct bs_remedy *grown = realloc(out->remedies, (out->n_remedies + 1) * sizeof *out->remedies);
    if (grown == NULL) {
        search->failed = true;
        return;
    }
    out->remedies = grown;
    out->remedies[out->n_remedies++] = search->now;
}

static void mark(struct search *search, const struct bs_change *change, bool done) {
    if (change->kind == BS_ADD_EXCEPTION)
        search->adds_exception[change->source] = done;
    else if (change->kind == BS_REMOVE_ENTRY)
        search->removed[change->op][change->entry -
                                    search->profile->effective.lists[change->op].entries] = done;
    else if (change->op == search->op)
        search->adds_rule = done;
}

/* Add a change to the remedy. Returns false if the remedy would have too many changes. */
static bool push(struct search *search, struct bs_change change) {
    if (search->now.n_changes == search->limit)
        return false;
    search->now.changes[search->now.n_changes++] = change;
    mark(search, &change, true);
    return true;
}

static void undo(struct search *search, size_t n_changes) {
    while (search->now.n_changes > n_changes)
        mark(search, &search->now.changes[--search->now.n_changes], false);
}

/* Also remove the exceptions that lie inside no deny any more after a deny was removed, because a
 * policy may not have such exceptions. */
static bool push_orphans(struct search *search) {
    const struct bs_list *list = &search->profile->effective.lists[BS_OP_MODIFY];
    for (size_t i = list->n_own; i < list->n; i++) {
        const struct bs_entry *entry = &list->entries[i];
        const struct bs_pattern *body = &list->patterns[i];
        if (entry->origin != BS_ENTRY_EXCEPTION || search->removed[BS_OP_MODIFY][i])
            continue;
        bool stands = entry->source == BS_FROM_GLOBAL ? is_inside_deny(search, body, i)
                                                      : is_inside_exception(search, body);
        if (!stands &&
            !push(search, (struct bs_change){BS_REMOVE_ENTRY, entry, BS_OP_MODIFY, entry->source}))
            return false;
    }
    return true;
}

static bool push_removal(struct search *search, enum bs_op op, size_t index) {
    const struct bs_entry *entry = &search->profile->effective.lists[op].entries[index];
    return push(search, (struct bs_change){BS_REMOVE_ENTRY, entry, op, entry->source}) &&
           (entry->origin != BS_ENTRY_DENY_MODIFY || push_orphans(search));
}

/* Also remove denies that equal the added rule, because a profile may not have a rule that equals a
 * deny of its operation. A denyRead counts for modify, too. */
static bool push_equal_denies(struct search *search) {
    for (int op = BS_OP_READ; op <= (int)search->op; op++) {
        const struct bs_list *list = &search->profile->effective.lists[op];
        for (size_t i = list->n_own; i < list->n; i++) {
            if (!search->removed[op][i] && is_deny(&list->entries[i]) &&
                equals_path(search, &list->patterns[i]) && !push_removal(search, (enum bs_op)op, i))
                return false;
        }
    }
    return true;
}

static bool push_rule(struct search *search) {
    return push_equal_denies(search) &&
           (!needs_read_rule(search) ||
            push(search, (struct bs_change){BS_ADD_RULE, NULL, BS_OP_READ, BS_FROM_GLOBAL})) &&
           push(search, (struct bs_change){BS_ADD_RULE, NULL, search->op, BS_FROM_GLOBAL});
}

static void go_on(struct search *search);

static void try_rule(struct search *search) {
    size_t before = search->now.n_changes;
    if (push_rule(search))
        go_on(search);
    undo(search, before);
}

static void try_exception(struct search *search, enum bs_policy_source source) {
    size_t before = search->now.n_changes;
    if (may_add_exception(search, source) &&
        push(search, (struct bs_change){BS_ADD_EXCEPTION, NULL, BS_OP_MODIFY, source}))
        go_on(search);
    undo(search, before);
}

static void try_removal(struct search *search, size_t culprit) {
    size_t before = search->now.n_changes;
    if (push_removal(search, search->op, culprit))
        go_on(search);
    undo(search, before);
}

static void go_on(struct search *search) {
    struct verdict verdict = decide(search);
    if (verdict.allowed) {
        note_remedy(search);
        return;
    }
    if (search->now.n_changes == search->limit || search->failed)
        return;
    bool by_deny = verdict.culprit >= (ptrdiff_t)search->list->n_own;
    if (verdict.culprit != BS_NO_RULE)
        try_removal(search, (size_t)verdict.culprit);
    if (by_deny) {
        try_exception(search, BS_FROM_GLOBAL);
        try_exception(search, BS_FROM_WORKSPACE);
    } else {
        try_rule(search);
    }
}

/* Find all remedies. Returns false if memory ran out. */
static bool search_all(struct search *search, struct bs_path_view path) {
    const struct bs_list *lists = search->profile->effective.lists;
    size_t n = search->list->n;
    size_t n_read = lists[BS_OP_READ].n;
    bool *marks = calloc(n + n_read + lists[BS_OP_MODIFY].n + 1, sizeof *marks);
    if (marks == NULL)
        return false;
    search->matched = marks;
    search->removed[BS_OP_READ] = marks + n;
    search->removed[BS_OP_MODIFY] = marks + n + n_read;
    search->failed = !bs_note_matches(search->list, search->profile->fold, path, marks);
    while (!search->failed && search->out->n_remedies == 0 && search->limit < BS_MOST_CHANGES) {
        search->limit++;
        go_on(search);
    }
    free(marks);
    return !search->failed;
}

int bs_profile_why_not(const struct bs_profile *profile, enum bs_op op, const char *path,
                       size_t len, struct bs_why_not *why_not, struct bs_error *err) {
    const struct bs_list *list = &profile->effective.lists[op];
    struct bs_decision *decision = &why_not->decision;
    struct bs_buf rule = BS_BUF_INIT;
    why_not->remedies = NULL;
    why_not->n_remedies = 0;
    why_not->rule = (struct bs_bytes)BS_BYTES_INIT;
    int code = bs_profile_check(profile, op, path, len, decision, err);
    if (code != BS_OK)
        return code;
    struct bs_path_view view = {.text = decision->path, .len = decision->path_len};
    struct search search = {
        .profile = profile, .list = list, .op = op, .path = {view.text, view.len}, .out = why_not};
    bs_rule_put(&rule, view.text, view.len, false);
    bool good = !rule.failed && (decision->allowed || search_all(&search, view));
    why_not->rule = bs_buf_take(&rule);
    if (good)
        return BS_OK;
    bs_why_not_clear(why_not);
    return bs_fail(err, BS_E_EXECUTION, 0, "out of memory for a search over %zu rules", list->n);
}

void bs_why_not_clear(struct bs_why_not *why_not) {
    bs_decision_clear(&why_not->decision);
    bs_bytes_clear(&why_not->rule);
    free(why_not->remedies);
    why_not->remedies = NULL;
    why_not->n_remedies = 0;
}
