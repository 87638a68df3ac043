/* Reads files of version 1, which had no fixed structure. The usual structures are known: lists
 * called allow, deny, read, write and similar names, at the top level, in `spec` or in a profile.
 * Everything else becomes a comment, so that a person can decide. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/table.h"
#include "policy/authoring/draft.h"
#include "policy/document/shape.h"
#include "policy/file/print.h"
#include "policy/file/problems.h"
#include "policy/file/read.h"

static const struct {
    const char *name;
    int lists;
} known[] = {
    {"allow", BS_DRAFT_READ | BS_DRAFT_MODIFY},
    {"deny", BS_DRAFT_DENY_READ | BS_DRAFT_DENY_MODIFY},
    {"read", BS_DRAFT_READ},
    {"allowRead", BS_DRAFT_READ},
    {"write", BS_DRAFT_MODIFY},
    {"modify", BS_DRAFT_MODIFY},
    {"allowWrite", BS_DRAFT_MODIFY},
    {"allowModify", BS_DRAFT_MODIFY},
    {"denyRead", BS_DRAFT_DENY_READ},
    {"denyWrite", BS_DRAFT_DENY_MODIFY},
    {"denyModify", BS_DRAFT_DENY_MODIFY},
};

static int lists_of(const struct bs_node *key) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (bs_node_is(key, known[i].name))
            return known[i].lists;
    }
    return 0;
}

/* Add the two lists of a map such as `deny: {read: [...], write: [...]}`. */
static void add_split(struct bs_draft *draft, struct bs_profile_rules *profile,
                      const struct bs_node *outer, int lists) {
    bool denies = (lists & (BS_DRAFT_DENY_READ | BS_DRAFT_DENY_MODIFY)) != 0;
    for (const struct bs_node *key = outer->next->first; key != NULL; key = key->next->next) {
        int inner = lists_of(key) & (BS_DRAFT_READ | BS_DRAFT_MODIFY);
        int both = denies ? inner * BS_DRAFT_DENY_READ : inner;
        if ((both & lists) == 0)
            bs_draft_note(draft, key, key->next, NULL);
        else
            bs_draft_add(draft, profile, key, key->next, both & lists);
    }
}

static bool add_lists(struct bs_draft *draft, struct bs_profile_rules *profile,
                      const struct bs_node *key) {
    int lists = lists_of(key);
    if (lists != 0 && key->next->kind == BS_NODE_MAP)
        add_split(draft, profile, key, lists);
    else if (lists != 0)
        bs_draft_add(draft, profile, key, key->next, lists);
    return lists != 0;
}

static bool add_profiles(struct bs_draft *draft, const struct bs_node *key) {
    bool named = bs_node_is(key, "profiles") || bs_node_is(key, "fsProfiles");
    if (!named || key->next->kind != BS_NODE_MAP || draft->policy.profiles != NULL)
        return false;
    /* Reserve one more profile for the rules that belong to no profile. */
    draft->policy.profiles = bs_arena_zeroed(draft->policy.arena, (size_t)key->next->len + 1,
                                             sizeof *draft->policy.profiles);
    draft->failed = draft->failed || draft->policy.profiles == NULL;
    for (const struct bs_node *name = key->next->first; name != NULL && !draft->failed;
         name = name->next->next) {
        if (name->len == 0 || name->next->kind != BS_NODE_MAP) {
            bs_draft_note(draft, name, name->next, "no profile");
            continue;
        }
        struct bs_profile_rules *profile = &draft->policy.profiles[draft->policy.n_profiles++];
        profile->name = bs_draft_keep(draft, name);
        if (draft->failed)
            break;
        for (const struct bs_node *list = name->next->first; list != NULL;
             list = list->next->next) {
            if (!add_lists(draft, profile, list))
                bs_draft_note(draft, list, list->next, NULL);
        }
    }
    return true;
}

static bool add_words(struct bs_draft *draft, const struct bs_node *key) {
    const struct bs_node *value = key->next;
    if (bs_node_is(key, "name") && draft->policy.name == NULL && bs_shape_is_name(value))
        draft->policy.name = bs_draft_keep(draft, value);
    else if (bs_node_is(key, "description") && value->kind == BS_NODE_STRING)
        draft->policy.description = bs_draft_keep(draft, value);
    else
        return bs_node_is(key, "schemaVersion") || bs_node_is(key, "kind");
    return true;
}

static void add_members(struct bs_draft *draft, const struct bs_node *map, bool top) {
    for (const struct bs_node *key = map->first; key != NULL; key = key->next->next) {
        bool part = top && (bs_node_is(key, "metadata") || bs_node_is(key, "spec"));
        if (part && key->next->kind == BS_NODE_MAP)
            add_members(draft, key->next, false);
        else if (!add_profiles(draft, key) && !add_lists(draft, &draft->shared, key) &&
                 !add_words(draft, key))
            bs_draft_note(draft, key, key->next, NULL);
    }
}

static void add_shared(struct bs_draft *draft) {
    struct bs_policy *policy = &draft->policy;
    if (draft->shared.read.n + draft->shared.modify.n == 0)
        return;
    if (policy->profiles == NULL)
        policy->profiles = bs_arena_zeroed(policy->arena, 1, sizeof *policy->profiles);
    if (policy->profiles == NULL) {
        draft->failed = true;
        return;
    }
    draft->shared.name = "default";
    for (size_t i = 0; i < policy->n_profiles && !draft->failed; i++) {
        if (strcmp(policy->profiles[i].name, "default") == 0)
            draft->shared.name = "version 1";
    }
    policy->profiles[policy->n_profiles++] = draft->shared;
}

static void put_draft(struct bs_buf *out, const struct bs_draft *draft) {
    bs_buf_str(out,
               "# A draft of version 2, made from a file of version 1. Read it before you use it:\n"
               "# the last rule that matches decides, the denies come after the rules of every\n"
               "# profile, and without a profile everything is allowed that no deny covers.\n");
    bs_policy_put(out, &draft->policy, BS_POLICY_YAML);
    if (draft->notes.len == 0)
        return;
    bs_buf_str(out, "# Entries that were changed or left out:\n");
    bs_buf_add(out, draft->notes.data, draft->notes.len);
}

static bool make_draft(struct bs_node *root, struct bs_draft *draft, struct bs_problems *doubled,
                       struct bs_buf *out) {
    bs_duplicates_drop(root, doubled);
    for (size_t i = 0; i < doubled->n; i++)
        bs_draft_remark(draft, doubled->items[i].pointer, "is there twice; the first one is used");
    add_members(draft, root, true);
    add_shared(draft);
    for (size_t i = 0; i < draft->policy.n_profiles && !draft->failed; i++)
        bs_draft_settle(draft, &draft->policy.profiles[i]);
    if (draft->failed)
        return false;
    if (draft->policy.name == NULL)
        draft->policy.name = "migrated";
    put_draft(out, draft);
    return !doubled->failed && !draft->notes.failed && !out->failed;
}

static bool is_version_1(const struct bs_node *root) {
    const struct bs_node *version =
        root->kind == BS_NODE_MAP ? bs_node_member(root, "schemaVersion") : NULL;
    int64_t number = 0;
    return version != NULL && bs_shape_integer(version, &number) && number == 1;
}

static bool migrate(const struct bs_policy_text *v1, struct bs_problems *problems,
                    struct bs_buf *out) {
    struct bs_document document = BS_DOCUMENT_INIT;
    if (!bs_policy_read(v1, &document, problems))
        return false;
    if (document.root == NULL)
        return true;
    bool good = true;
    if (!is_version_1(document.root)) {
        bs_problems_add(problems, (struct bs_place){document.root->line, document.root->column},
                        NULL, NULL, "only a file with schemaVersion 1 is migrated");
    } else {
        struct bs_draft draft = {
            .policy = {.arena = document.arena, .seed = bs_table_seed(document.arena)},
            .notes = BS_BUF_INIT};
        struct bs_problems doubled = {0};
        good = make_draft(document.root, &draft, &doubled, out);
        bs_buf_clear(&draft.notes);
        bs_problems_clear(&doubled);
    }
    bs_document_clear(&document);
    return good && !problems->failed;
}

int bs_policy_migrate(const struct bs_policy_text *v1, struct bs_bytes *out,
                      struct bs_policy_report *report, struct bs_error *err) {
    bs_policy_report_clear(report);
    struct bs_problems problems = {0};
    struct bs_buf text = BS_BUF_INIT;
    bool whole = migrate(v1, &problems, &text);
    report->arena = problems.arena;
    report->problems = problems.items;
    report->n_problems = problems.n;
    if (whole && problems.n == 0) {
        bs_bytes_clear(out);
        *out = bs_buf_take(&text);
        return BS_OK;
    }
    bs_buf_clear(&text);
    if (whole)
        return bs_policy_fail_with_first(report, err);
    bs_policy_report_clear(report);
    return bs_fail(err, BS_E_EXECUTION, 0, "out of memory");
}
