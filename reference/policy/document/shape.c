#include "policy/document/shape.h"

#include <string.h>

#include "base/arena.h"
#include "base/table.h"
#include "policy/path/rule.h"

enum { LONGEST_NAME = 64 };

struct reading {
    enum bs_policy_format format;
    struct bs_problems *problems;
    struct bs_policy *policy;
    bool failed; /* memory ran out */
};

static struct bs_place place_of(const struct bs_node *node) {
    return (struct bs_place){node->line, node->column};
}

static struct bs_pointer member(const struct bs_pointer *up, const char *name) {
    return (struct bs_pointer){up, name, strlen(name), 0};
}

static void complain(struct reading *r, const struct bs_node *node,
                     const struct bs_pointer *pointer, const char *message) {
    bs_problems_add(r->problems, place_of(node), pointer, NULL, message);
}

static bool is_string(struct reading *r, const struct bs_node *node,
                      const struct bs_pointer *pointer) {
    if (node->kind == BS_NODE_STRING)
        return true;
    complain(r, node, pointer,
             r->format == BS_POLICY_YAML ? "a string is required here; quote it"
                                         : "a string is required here");
    return false;
}

static bool is_map(struct reading *r, const struct bs_node *node,
                   const struct bs_pointer *pointer) {
    if (node->kind == BS_NODE_MAP)
        return true;
    complain(r, node, pointer,
             r->format == BS_POLICY_YAML ? "a mapping is required here"
                                         : "an object is required here");
    return false;
}

static const char *keep(struct reading *r, const struct bs_node *node) {
    const char *copy = bs_arena_text(r->policy->arena, node->text, node->len);
    r->failed = r->failed || copy == NULL;
    return copy;
}

struct field {
    const char *name;
    const char *missing; /* the message if the field is missing; NULL if it is optional */
    const struct bs_node *value;
};

static void read_fields(struct reading *r, const struct bs_node *map,
                        const struct bs_pointer *pointer, struct field *fields, size_t n,
                        const char *unknown) {
    for (const struct bs_node *key = map->first; key != NULL; key = key->next->next) {
        size_t i = 0;
        while (i < n && !bs_node_is(key, fields[i].name))
            i++;
        if (i < n) {
            fields[i].value = key->next;
            continue;
        }
        struct bs_pointer at = {pointer, key->text, key->len, 0};
        complain(r, key, &at, unknown);
    }
    for (size_t i = 0; i < n; i++) {
        if (fields[i].value == NULL && fields[i].missing != NULL)
            complain(r, map, pointer, fields[i].missing);
    }
}

/* Return the size of one block for all bodies of a list. */
static size_t room_for_bodies(const struct bs_node *list) {
    size_t room = 0;
    for (const struct bs_node *item = list->first; item != NULL; item = item->next)
        room += item->kind == BS_NODE_STRING ? item->len + 1 : 0;
    return room;
}

static struct bs_rules read_rules(struct reading *r, const struct bs_node *list,
                                  const struct bs_pointer *pointer) {
    struct bs_rules rules = {NULL, 0};
    if (list == NULL)
        return rules;
    if (list->kind != BS_NODE_LIST) {
        complain(r, list, pointer, "a list of rules is required here");
        return rules;
    }
    rules.items = bs_arena_take(r->policy->arena, list->len * sizeof *rules.items);
    char *body = bs_arena_bytes(r->policy->arena, room_for_bodies(list));
    if (rules.items == NULL || body == NULL) {
        r->failed = true;
        return (struct bs_rules){NULL, 0};
    }
    struct bs_pointer at = {pointer, NULL, 0, 0};
    for (const struct bs_node *item = list->first; item != NULL; item = item->next, at.index++) {
        if (!is_string(r, item, &at))
            continue;
        size_t len = item->len;
        memcpy(body, item->text, len);
        bool negated = false;
        const char *problem = NULL;
        if (bs_rule_parse(body, &len, &negated, &problem) != BS_OK) {
            complain(r, item, &at, problem);
            continue;
        }
        body[len] = '\0';
        rules.items[rules.n++] =
            (struct bs_rule){.body = body,
                             .len = (uint32_t)len,
                             .negated = negated,
                             .names_folder = bs_rule_names_folder(item->text, item->len, body, len),
                             .source = r->problems->source,
                             .line = item->line,
                             .column = item->column,
                             .index = (uint32_t)at.index,
                             .hash = (uint32_t)bs_table_hash(r->policy->seed, body, len)};
        body += len + 1;
    }
    return rules;
}

/* Report negated rules of denyRead, because they would permit paths that other rules deny. */
static void refuse_negated(struct reading *r, struct bs_rules *rules,
                           const struct bs_pointer *pointer) {
    size_t kept = 0;
    for (size_t i = 0; i < rules->n; i++) {
        const struct bs_rule *rule = &rules->items[i];
        if (!rule->negated) {
            rules->items[kept++] = *rule;
            continue;
        }
        struct bs_pointer at = {pointer, NULL, 0, rule->index};
        bs_problems_add(r->problems, (struct bs_place){rule->line, rule->column}, &at, NULL,
                        "denyRead takes no `!`; only denyModify has exceptions");
    }
    rules->n = kept;
}

static struct bs_profile_rules read_profile(struct reading *r, const struct bs_node *name,
                                            const struct bs_pointer *up) {
    struct bs_pointer pointer = {up, name->text, name->len, 0};
    struct bs_profile_rules profile = {.name = keep(r, name),
                                       .line = name->line,
                                       .column = name->column,
                                       .source = r->problems->source};
    if (name->len == 0)
        complain(r, name, &pointer, "a profile needs a name");
    if (!is_map(r, name->next, &pointer))
        return profile;
    struct field fields[] = {{"read", NULL, NULL}, {"modify", NULL, NULL}};
    read_fields(r, name->next, &pointer, fields, 2, "a profile has `read` and `modify` only");
    struct bs_pointer read = member(&pointer, "read");
    struct bs_pointer modify = member(&pointer, "modify");
    profile.read = read_rules(r, fields[0].value, &read);
    profile.modify = read_rules(r, fields[1].value, &modify);
    return profile;
}

static void read_profiles(struct reading *r, const struct bs_node *map,
                          const struct bs_pointer *pointer) {
    if (map == NULL || !is_map(r, map, pointer))
        return;
    struct bs_policy *policy = r->policy;
    policy->profiles = bs_arena_zeroed(policy->arena, map->len, sizeof *policy->profiles);
    if (policy->profiles == NULL) {
        r->failed = true;
        return;
    }
    for (const struct bs_node *name = map->first; name != NULL && !r->failed;
         name = name->next->next)
        policy->profiles[policy->n_profiles++] = read_profile(r, name, pointer);
}

static void read_spec(struct reading *r, const struct bs_node *spec,
                      const struct bs_pointer *pointer) {
    if (!is_map(r, spec, pointer))
        return;
    struct field fields[] = {{"description", NULL, NULL},
                             {"denyRead", NULL, NULL},
                             {"denyModify", NULL, NULL},
                             {"fsProfiles", NULL, NULL}};
    read_fields(r, spec, pointer, fields, 4,
                "`spec` has `description`, `denyRead`, `denyModify` and `fsProfiles` only");
    struct bs_pointer description = member(pointer, "description");
    struct bs_pointer deny_read = member(pointer, "denyRead");
    struct bs_pointer deny_modify = member(pointer, "denyModify");
    struct bs_pointer profiles = member(pointer, "fsProfiles");
    if (fields[0].value != NULL && is_string(r, fields[0].value, &description))
        r->policy->description = keep(r, fields[0].value);
    r->policy->deny_read = read_rules(r, fields[1].value, &deny_read);
    refuse_negated(r, &r->policy->deny_read, &deny_read);
    r->policy->deny_modify = read_rules(r, fields[2].value, &deny_modify);
    read_profiles(r, fields[3].value, &profiles);
}

static struct bs_pairs read_pairs(struct reading *r, const struct bs_node *map,
                                  const struct bs_pointer *pointer) {
    struct bs_pairs pairs = {NULL, 0};
    if (map == NULL || !is_map(r, map, pointer))
        return pairs;
    pairs.items = bs_arena_zeroed(r->policy->arena, map->len, sizeof *pairs.items);
    if (pairs.items == NULL) {
        r->failed = true;
        return pairs;
    }
    for (const struct bs_node *key = map->first; key != NULL; key = key->next->next) {
        struct bs_pointer at = {pointer, key->text, key->len, 0};
        if (is_string(r, key->next, &at))
            pairs.items[pairs.n++] = (struct bs_pair){keep(r, key), keep(r, key->next)};
    }
    return pairs;
}

static bool is_of_names(char c) {
    bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return letter || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool bs_shape_is_name(const struct bs_node *node) {
    if (node->kind != BS_NODE_STRING || node->len == 0 || node->len > LONGEST_NAME)
        return false;
    for (size_t i = 0; i < node->len; i++) {
        if (!is_of_names(node->text[i]))
            return false;
    }
    return true;
}

static void read_metadata(struct reading *r, const struct bs_node *metadata,
                          const struct bs_pointer *pointer) {
    if (!is_map(r, metadata, pointer))
        return;
    struct field fields[] = {{"name", "`metadata.name` is missing", NULL},
                             {"labels", NULL, NULL},
                             {"annotations", NULL, NULL}};
    read_fields(r, metadata, pointer, fields, 3,
                "`metadata` has `name`, `labels` and `annotations` only");
    struct bs_pointer name = member(pointer, "name");
    struct bs_pointer labels = member(pointer, "labels");
    struct bs_pointer annotations = member(pointer, "annotations");
    if (fields[0].value != NULL && is_string(r, fields[0].value, &name)) {
        if (!bs_shape_is_name(fields[0].value))
            complain(r, fields[0].value, &name, "a name is 1 to 64 of A-Z, a-z, 0-9, `_` and `-`");
        r->policy->name = keep(r, fields[0].value);
    }
    r->policy->labels = read_pairs(r, fields[1].value, &labels);
    r->policy->annotations = read_pairs(r, fields[2].value, &annotations);
}

bool bs_shape_read(const struct bs_node *root, enum bs_policy_format format,
                   struct bs_problems *problems, struct bs_policy *policy) {
    struct reading r = {format, problems, policy, false};
    struct field fields[] = {{"schemaVersion", NULL, NULL},
                             {"kind", NULL, NULL},
                             {"metadata", "`metadata` is missing", NULL},
                             {"spec", "`spec` is missing", NULL}};
    read_fields(&r, root, NULL, fields, 4,
                "a policy has `schemaVersion`, `kind`, `metadata` and `spec` only");
    struct bs_pointer metadata = member(NULL, "metadata");
    struct bs_pointer spec = member(NULL, "spec");
    if (fields[2].value != NULL)
        read_metadata(&r, fields[2].value, &metadata);
    if (fields[3].value != NULL)
        read_spec(&r, fields[3].value, &spec);
    return !r.failed && !problems->failed;
}
