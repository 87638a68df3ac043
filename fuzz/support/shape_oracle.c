#include "support/shape_oracle.h"

#include <string.h>

void bs_fuzz_find(struct bs_fuzz_file *file, struct bs_fuzz_place place, const char *what) {
    struct bs_fuzz_finding *finding = bs_fuzz_take(file->pool, sizeof *finding);
    *finding = (struct bs_fuzz_finding){what, place, file->of_workspace, false, *file->problems};
    *file->problems = finding;
}

static bool is_named(const struct bs_fuzz_node *key, const char *name) {
    size_t i = 0;
    while (i < key->len && name[i] != '\0' && key->text[i] == name[i])
        i++;
    return key->kind == BS_FUZZ_STRING && i == key->len && name[i] == '\0';
}

/* Return the value of the first key of that name. A repeated key is reported elsewhere. */
static const struct bs_fuzz_node *member(const struct bs_fuzz_node *map, const char *name) {
    for (const struct bs_fuzz_node *key = map->first; key != NULL; key = key->next->next) {
        if (is_named(key, name))
            return key->next;
    }
    return NULL;
}

static bool is_repeated(const struct bs_fuzz_node *map, const struct bs_fuzz_node *key) {
    for (const struct bs_fuzz_node *before = map->first; before != key;
         before = before->next->next) {
        if (before->len == key->len && memcmp(before->text, key->text, key->len) == 0)
            return true;
    }
    return false;
}

static void find_repeated(struct bs_fuzz_file *file, const struct bs_fuzz_node *node) {
    bool map = node->kind == BS_FUZZ_MAP;
    if (!map && node->kind != BS_FUZZ_LIST)
        return;
    for (const struct bs_fuzz_node *child = node->first; child != NULL; child = child->next) {
        if (map && is_repeated(node, child))
            bs_fuzz_find(file, child->place, "a repeated key");
        child = map ? child->next : child;
        find_repeated(file, child);
    }
}

/* Return 1 or 2, or 0 for any other value. */
static int version_of(const struct bs_fuzz_node *node) {
    if (node->kind != BS_FUZZ_INTEGER)
        return 0;
    const char *digits = node->text;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'o'))
        digits += 2;
    else if (digits[0] == '+')
        digits++;
    digits += strspn(digits, "0");
    return strcmp(digits, "1") == 0 ? 1 : strcmp(digits, "2") == 0 ? 2 : 0;
}

static bool read_head(struct bs_fuzz_file *file, const struct bs_fuzz_node *root) {
    if (root->kind != BS_FUZZ_MAP) {
        bs_fuzz_find(file, root->place, "not an object");
        return false;
    }
    const struct bs_fuzz_node *version = member(root, "schemaVersion");
    const struct bs_fuzz_node *kind = member(root, "kind");
    int number = version != NULL ? version_of(version) : 0;
    if (number != 2)
        bs_fuzz_find(file, version != NULL ? version->place : root->place, "another version");
    if (number == 1)
        return false;
    bool right = kind != NULL && is_named(kind, "Policy");
    if (!right)
        bs_fuzz_find(file, kind != NULL ? kind->place : root->place, "another kind");
    return right && number == 2;
}

static void find_unknown(struct bs_fuzz_file *file, const struct bs_fuzz_node *map,
                         const char *const *names) {
    for (const struct bs_fuzz_node *key = map->first; key != NULL; key = key->next->next) {
        const char *const *name = names;
        while (*name != NULL && !is_named(key, *name))
            name++;
        if (*name == NULL && !is_repeated(map, key))
            bs_fuzz_find(file, key->place, "an unknown field");
    }
}

static bool is_of(struct bs_fuzz_file *file, const struct bs_fuzz_node *node,
                  enum bs_fuzz_kind kind) {
    if (node == NULL)
        return false;
    if (node->kind != kind)
        bs_fuzz_find(file, node->place, "a wrong type");
    return node->kind == kind;
}

static size_t count(const struct bs_fuzz_node *node) {
    size_t n = 0;
    for (const struct bs_fuzz_node *child = node->first; child != NULL; child = child->next)
        n++;
    return n;
}

static struct bs_fuzz_rules read_rules(struct bs_fuzz_file *file, const struct bs_fuzz_node *list,
                                       bool takes_negated) {
    struct bs_fuzz_rules rules = {NULL, 0};
    if (!is_of(file, list, BS_FUZZ_LIST))
        return rules;
    rules.items = bs_fuzz_take(file->pool, count(list) * sizeof *rules.items);
    for (const struct bs_fuzz_node *item = list->first; item != NULL; item = item->next) {
        struct bs_fuzz_rule *rule = &rules.items[rules.n];
        if (!is_of(file, item, BS_FUZZ_STRING))
            continue;
        if (!bs_fuzz_rule_read(item->text, item->len, file->pool, rule)) {
            bs_fuzz_find(file, item->place, "not a rule");
        } else if (rule->negated && !takes_negated) {
            bs_fuzz_find(file, item->place, "a negated rule");
        } else {
            rule->place = item->place;
            rule->of_workspace = file->of_workspace;
            rules.n++;
        }
    }
    return rules;
}

static struct bs_fuzz_pairs read_pairs(struct bs_fuzz_file *file, const struct bs_fuzz_node *map) {
    struct bs_fuzz_pairs pairs = {NULL, 0};
    if (!is_of(file, map, BS_FUZZ_MAP))
        return pairs;
    pairs.items = bs_fuzz_take(file->pool, count(map) * sizeof *pairs.items);
    for (const struct bs_fuzz_node *key = map->first; key != NULL; key = key->next->next) {
        if (!is_repeated(map, key) && is_of(file, key->next, BS_FUZZ_STRING))
            pairs.items[pairs.n++] = (struct bs_fuzz_pair){key->text, key->next->text};
    }
    return pairs;
}

static bool is_name(const char *text) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t len = strlen(text);
    return len >= 1 && len <= 64 && strspn(text, allowed) == len;
}

static void read_metadata(struct bs_fuzz_file *file, const struct bs_fuzz_node *metadata) {
    static const char *const known[] = {"name", "labels", "annotations", NULL};
    if (!is_of(file, metadata, BS_FUZZ_MAP))
        return;
    find_unknown(file, metadata, known);
    const struct bs_fuzz_node *name = member(metadata, "name");
    if (name == NULL)
        bs_fuzz_find(file, metadata->place, "no metadata.name");
    if (is_of(file, name, BS_FUZZ_STRING)) {
        file->policy.name = name->text;
        if (!is_name(name->text))
            bs_fuzz_find(file, name->place, "not a name");
    }
    file->policy.labels = read_pairs(file, member(metadata, "labels"));
    file->policy.annotations = read_pairs(file, member(metadata, "annotations"));
}

static void read_profile(struct bs_fuzz_file *file, const struct bs_fuzz_node *name) {
    static const char *const known[] = {"read", "modify", NULL};
    struct bs_fuzz_profile *profile = &file->policy.profiles[file->policy.n_profiles++];
    *profile = (struct bs_fuzz_profile){
        .name = name->text, .place = name->place, .of_workspace = file->of_workspace};
    if (name->len == 0)
        bs_fuzz_find(file, name->place, "a profile without a name");
    if (!is_of(file, name->next, BS_FUZZ_MAP))
        return;
    find_unknown(file, name->next, known);
    const struct bs_fuzz_node *read = member(name->next, "read");
    const struct bs_fuzz_node *modify = member(name->next, "modify");
    profile->read = read_rules(file, read, true);
    profile->modify = read_rules(file, modify, true);
}

static void read_spec(struct bs_fuzz_file *file, const struct bs_fuzz_node *spec) {
    static const char *const known[] = {"description", "denyRead", "denyModify", "fsProfiles",
                                        NULL};
    if (!is_of(file, spec, BS_FUZZ_MAP))
        return;
    find_unknown(file, spec, known);
    const struct bs_fuzz_node *description = member(spec, "description");
    if (is_of(file, description, BS_FUZZ_STRING))
        file->policy.description = description->text;
    file->policy.deny_read = read_rules(file, member(spec, "denyRead"), false);
    file->policy.deny_modify = read_rules(file, member(spec, "denyModify"), true);
    const struct bs_fuzz_node *profiles = member(spec, "fsProfiles");
    if (!is_of(file, profiles, BS_FUZZ_MAP))
        return;
    file->policy.profiles =
        bs_fuzz_take(file->pool, count(profiles) * sizeof *file->policy.profiles);
    for (const struct bs_fuzz_node *name = profiles->first; name != NULL; name = name->next->next) {
        if (!is_repeated(profiles, name))
            read_profile(file, name);
    }
}

void bs_fuzz_shape_read(struct bs_fuzz_file *file, const struct bs_fuzz_node *root) {
    static const char *const known[] = {"schemaVersion", "kind", "metadata", "spec", NULL};
    file->is_policy = read_head(file, root);
    if (!file->is_policy)
        return;
    find_repeated(file, root);
    find_unknown(file, root, known);
    const struct bs_fuzz_node *metadata = member(root, "metadata");
    const struct bs_fuzz_node *spec = member(root, "spec");
    if (metadata == NULL)
        bs_fuzz_find(file, root->place, "no metadata");
    if (spec == NULL)
        bs_fuzz_find(file, root->place, "no spec");
    read_metadata(file, metadata);
    read_spec(file, spec);
}
