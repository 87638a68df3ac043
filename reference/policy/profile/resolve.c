#include "policy/profile/resolve.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "policy/model.h"
#include "policy/path/rule.h"

/* A list that is being written. */
struct writer {
    struct bs_arena *arena;
    struct bs_list *list;
    struct bs_buf spelled;
    bool failed;
};

/* Return the rule as it is spelled in a file. The spelling differs from the body only if the parser
 * would misread the body. */
static const char *spell(struct writer *writer, const char *body, size_t *len) {
    writer->spelled.len = 0;
    bs_rule_put(&writer->spelled, body, *len, false);
    if (writer->spelled.failed || writer->spelled.len == *len)
        return body;
    *len = writer->spelled.len;
    return bs_arena_text(writer->arena, writer->spelled.data, *len);
}

const char *bs_entry_origin_name(enum bs_entry_origin origin) {
    static const char *const names[] = {[BS_ENTRY_PROFILE] = "profile",
                                        [BS_ENTRY_DENY_READ] = "denyRead",
                                        [BS_ENTRY_DENY_MODIFY] = "denyModify",
                                        [BS_ENTRY_EXCEPTION] = "exception"};
    return names[origin];
}

static void add(struct writer *writer, const struct bs_rule *rule, enum bs_entry_origin origin) {
    struct bs_list *list = writer->list;
    const char *body = bs_arena_text(writer->arena, rule->body, rule->len);
    size_t len = rule->len;
    const char *spelled = body != NULL ? spell(writer, body, &len) : NULL;
    if (spelled == NULL) {
        writer->failed = true;
        return;
    }
    struct bs_entry *entry = &list->entries[list->n];
    list->patterns[list->n++] = (struct bs_pattern){body, rule->len};
    *entry = (struct bs_entry){spelled,      len,        rule->negated, origin,
                               rule->source, rule->line, rule->column};
    if (origin == BS_ENTRY_PROFILE) {
        list->n_own++;
        list->has_positive |= !rule->negated;
    } else {
        entry->negated = origin != BS_ENTRY_EXCEPTION;
        list->has_exceptions |= origin == BS_ENTRY_EXCEPTION;
    }
}

static int resolve(struct bs_arena *arena, const struct bs_rules *own,
                   const struct bs_rules *denies, enum bs_entry_origin origin,
                   struct bs_list *list) {
    struct writer writer = {arena, list, BS_BUF_INIT, false};
    size_t room = own->n + denies->n;
    if (room == 0)
        return BS_OK;
    list->entries = bs_arena_zeroed(arena, room, sizeof *list->entries);
    list->patterns = bs_arena_zeroed(arena, room, sizeof *list->patterns);
    if (list->entries == NULL || list->patterns == NULL)
        return BS_E_EXECUTION;
    for (size_t i = 0; i < own->n && !writer.failed; i++)
        add(&writer, &own->items[i], BS_ENTRY_PROFILE);
    for (size_t i = 0; i < denies->n && !writer.failed; i++)
        add(&writer, &denies->items[i], denies->items[i].negated ? BS_ENTRY_EXCEPTION : origin);
    bool failed = writer.failed || writer.spelled.failed;
    bs_buf_clear(&writer.spelled);
    return failed ? BS_E_EXECUTION : BS_OK;
}

int bs_effective_profile(const struct bs_policy *policy, const char *name, struct bs_arena *arena,
                         struct bs_effective *out, struct bs_error *err) {
    static struct bs_rule everything = {.body = "**", .len = 2, .source = BS_SYNTHESIZED};
    static const struct bs_profile_rules unrestricted = {.name = BS_UNRESTRICTED,
                                                         .read = {&everything, 1},
                                                         .modify = {&everything, 1},
                                                         .source = BS_SYNTHESIZED};
    if (name == NULL)
        name = BS_UNRESTRICTED;
    const struct bs_profile_rules *rules = bs_policy_profile(policy, name);
    *out = (struct bs_effective){.synthesized = rules == NULL};
    if (rules == NULL && strcmp(name, BS_UNRESTRICTED) == 0)
        rules = &unrestricted;
    if (rules == NULL)
        return bs_fail(err, BS_E_INVALID, 0,
                       "unknown profile `%.200s`: policy `%.64s` does not define it", name,
                       policy->name);
    out->name = bs_arena_text(arena, rules->name, strlen(rules->name));
    int code = out->name != NULL ? BS_OK : BS_E_EXECUTION;
    if (code == BS_OK)
        code = resolve(arena, &rules->read, &policy->deny_read, BS_ENTRY_DENY_READ,
                       &out->lists[BS_OP_READ]);
    if (code == BS_OK)
        code = resolve(arena, &rules->modify, &policy->deny_modify, BS_ENTRY_DENY_MODIFY,
                       &out->lists[BS_OP_MODIFY]);
    return code == BS_OK ? BS_OK
                         : bs_fail(err, code, 0, "out of memory for profile `%.200s`", name);
}
