#include "policy/authoring/draft.h"

#include <string.h>

#include <boxspec/error.h>

#include "base/arena.h"
#include "policy/document/cover.h"
#include "policy/file/print.h"
#include "policy/path/rule.h"

/* Append a tree as one line of JSON, for a comment that people read. */
static void put_node(struct bs_buf *out, const struct bs_node *node) {
    if (node->kind == BS_NODE_STRING) {
        bs_policy_put_string(out, node->text, node->len);
        return;
    }
    if (node->kind < BS_NODE_LIST) {
        bs_buf_add(out, node->text, node->len);
        return;
    }
    bool map = node->kind == BS_NODE_MAP;
    bool is_key = map;
    bs_buf_char(out, map ? '{' : '[');
    for (const struct bs_node *child = node->first; child != NULL; child = child->next) {
        put_node(out, child);
        if (child->next != NULL)
            bs_buf_str(out, is_key ? ": " : ", ");
        is_key = map && !is_key;
    }
    bs_buf_char(out, map ? '}' : ']');
}

static void end_note(struct bs_draft *draft, const char *why) {
    if (why != NULL) {
        bs_buf_str(&draft->notes, "  -- ");
        bs_buf_str(&draft->notes, why);
    }
    bs_buf_char(&draft->notes, '\n');
}

void bs_draft_note(struct bs_draft *draft, const struct bs_node *where, const struct bs_node *what,
                   const char *why) {
    bs_buf_str(&draft->notes, "#   ");
    put_node(&draft->notes, where);
    bs_buf_str(&draft->notes, ": ");
    put_node(&draft->notes, what);
    end_note(draft, why);
}

void bs_draft_remark(struct bs_draft *draft, const char *where, const char *why) {
    bs_buf_str(&draft->notes, "#   ");
    bs_policy_put_string(&draft->notes, where, strlen(where));
    end_note(draft, why);
}

const char *bs_draft_keep(struct bs_draft *draft, const struct bs_node *text) {
    const char *copy = bs_arena_text(draft->policy.arena, text->text, text->len);
    draft->failed = draft->failed || copy == NULL;
    return copy;
}

/* Append a rule. The list is enlarged when its length is a power of two, so its capacity need not
 * be stored. */
static void push(struct bs_draft *draft, struct bs_rules *rules, const struct bs_rule *rule) {
    if ((rules->n & (rules->n - 1)) == 0) {
        size_t room = rules->n > 0 ? rules->n * 2 : 1;
        struct bs_rule *grown = bs_arena_zeroed(draft->policy.arena, room, sizeof *grown);
        if (grown == NULL) {
            draft->failed = true;
            return;
        }
        if (rules->n > 0)
            memcpy(grown, rules->items, rules->n * sizeof *grown);
        rules->items = grown;
    }
    rules->items[rules->n++] = *rule;
}

static void add_one(struct bs_draft *draft, struct bs_profile_rules *profile,
                    const struct bs_node *where, const struct bs_node *node, int lists) {
    if (node->kind != BS_NODE_STRING) {
        bs_draft_note(draft, where, node, "no rule");
        return;
    }
    char *body = bs_arena_text(draft->policy.arena, node->text, node->len);
    struct bs_rule rule = {.body = body};
    size_t len = node->len;
    const char *problem = NULL;
    if (body == NULL) {
        draft->failed = true;
        return;
    }
    if (bs_rule_parse(body, &len, &rule.negated, &problem) != BS_OK) {
        bs_draft_note(draft, where, node, problem);
        return;
    }
    body[len] = '\0';
    rule.len = (uint32_t)len;
    rule.hash = (uint32_t)bs_table_hash(draft->policy.seed, body, len);
    if (rule.negated && (lists & (BS_DRAFT_DENY_READ | BS_DRAFT_DENY_MODIFY)) != 0) {
        bs_draft_note(draft, where, node,
                      "denyRead takes no `!`, and denyModify only exceptions to an earlier deny");
        return;
    }
    if ((lists & BS_DRAFT_READ) != 0)
        push(draft, &profile->read, &rule);
    if ((lists & BS_DRAFT_MODIFY) != 0)
        push(draft, &profile->modify, &rule);
    if ((lists & BS_DRAFT_DENY_READ) != 0)
        push(draft, &draft->policy.deny_read, &rule);
    if ((lists & BS_DRAFT_DENY_MODIFY) != 0)
        push(draft, &draft->policy.deny_modify, &rule);
}

void bs_draft_add(struct bs_draft *draft, struct bs_profile_rules *profile,
                  const struct bs_node *where, const struct bs_node *rules, int lists) {
    if (rules->kind != BS_NODE_LIST) {
        add_one(draft, profile, where, rules, lists);
        return;
    }
    for (const struct bs_node *item = rules->first; item != NULL && !draft->failed;
         item = item->next)
        add_one(draft, profile, where, item, lists);
}

static void leave_out(struct bs_draft *draft, struct bs_rules *rules, const struct bs_rules *denies,
                      const char *why) {
    struct bs_cover denied = {0};
    if (!bs_cover_fill(&denied, denies, NULL, false, draft->policy.seed)) {
        draft->failed = true;
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < rules->n; i++) {
        const struct bs_rule *rule = &rules->items[i];
        if (bs_cover_has_equal(&denied, rule))
            bs_draft_remark(draft, rule->body, why);
        else
            rules->items[kept++] = *rule;
    }
    rules->n = kept;
    bs_cover_clear(&denied);
}

static void add_reads(struct bs_draft *draft, struct bs_profile_rules *profile) {
    struct bs_cover readable = {0};
    if (!bs_cover_fill(&readable, &profile->read, NULL, false, draft->policy.seed)) {
        draft->failed = true;
        return;
    }
    for (size_t i = 0; i < profile->modify.n && !draft->failed; i++) {
        const struct bs_rule *rule = &profile->modify.items[i];
        if (rule->negated || bs_cover_covers(&readable, rule))
            continue;
        push(draft, &profile->read, rule);
        bs_draft_remark(draft, rule->body, "added to `read`: what may be written must be readable");
    }
    bs_cover_clear(&readable);
}

void bs_draft_settle(struct bs_draft *draft, struct bs_profile_rules *profile) {
    leave_out(draft, &profile->read, &draft->policy.deny_read,
              "left out of `read`: denyRead has the same rule");
    leave_out(draft, &profile->modify, &draft->policy.deny_modify,
              "left out of `modify`: denyModify has the same rule");
    leave_out(draft, &profile->modify, &draft->policy.deny_read,
              "left out of `modify`: denyRead has the same rule");
    add_reads(draft, profile);
}
