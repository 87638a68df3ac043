#include "support/policy_gen.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LIST = 6, MOST_PROFILES = 3 };

static const char *const names[] = {"p",        "q",    "unrestricted", "a b",
                                    "\xC3\xA9", "n/~x", "yes",          "p\n"};

enum { NAMES = sizeof names / sizeof *names };

static bool rarely(struct bs_gen_policies *gen) { return bs_fuzz_below(gen->from, 24) == 23; }

static struct bs_fuzz_node *scalar(struct bs_gen_policies *gen, enum bs_fuzz_kind kind,
                                   struct bs_fuzz_text text) {
    struct bs_fuzz_node *node = bs_fuzz_take(gen->pool, sizeof *node);
    node->kind = kind;
    node->text = bs_fuzz_keep(gen->pool, text.text, text.len);
    node->len = text.len;
    return node;
}

static struct bs_fuzz_node *string(struct bs_gen_policies *gen, const char *text) {
    return scalar(gen, BS_FUZZ_STRING, (struct bs_fuzz_text){text, strlen(text)});
}

static struct bs_fuzz_node *container(struct bs_gen_policies *gen, enum bs_fuzz_kind kind) {
    struct bs_fuzz_node *node = bs_fuzz_take(gen->pool, sizeof *node);
    node->kind = kind;
    return node;
}

static void add(struct bs_fuzz_node *node, struct bs_fuzz_node *child) {
    struct bs_fuzz_node **link = &node->first;
    while (*link != NULL)
        link = &(*link)->next;
    *link = child;
}

/* Return a value that is probably of a wrong type. */
static struct bs_fuzz_node *misfit(struct bs_gen_policies *gen) {
    static const struct {
        enum bs_fuzz_kind kind;
        const char *text;
    } misfits[] = {{BS_FUZZ_NULL, "null"},  {BS_FUZZ_BOOLEAN, "true"}, {BS_FUZZ_INTEGER, "2"},
                   {BS_FUZZ_INTEGER, "1"},  {BS_FUZZ_REAL, "2.0"},     {BS_FUZZ_INTEGER, "-2"},
                   {BS_FUZZ_INTEGER, "3"},  {BS_FUZZ_REAL, "1e999"},   {BS_FUZZ_STRING, "2"},
                   {BS_FUZZ_STRING, "null"}};
    uint32_t number = bs_fuzz_below(gen->from, sizeof misfits / sizeof *misfits + 2);
    if (number >= sizeof misfits / sizeof *misfits)
        return container(gen, number % 2 == 0 ? BS_FUZZ_LIST : BS_FUZZ_MAP);
    const char *text = misfits[number].text;
    return scalar(gen, misfits[number].kind, (struct bs_fuzz_text){text, strlen(text)});
}

static const char *misspelled(struct bs_gen_policies *gen, const char *name) {
    static const char *const other[] = {"Spec", "READ", "rules", "", "kind", "spec", "read"};
    uint32_t number = bs_fuzz_below(gen->from, 8);
    return number < 7 ? other[number] : name;
}

/* Add a field. In a flawed case the field may be missing, misspelled, repeated or of another
 * type. */
static void add_field(struct bs_gen_policies *gen, struct bs_fuzz_node *map, const char *name,
                      struct bs_fuzz_node *value) {
    bool flaw = gen->flawed && bs_fuzz_below(gen->from, 12) == 11;
    switch (flaw ? bs_fuzz_below(gen->from, 4) : 4) {
    case 0:
        return;
    case 1:
        add(map, string(gen, misspelled(gen, name)));
        add(map, value);
        return;
    case 2:
        add(map, string(gen, name));
        add(map, misfit(gen));
        break;
    case 3:
        add(map, string(gen, name));
        add(map, misfit(gen));
        return;
    default:
        break;
    }
    add(map, string(gen, name));
    add(map, value);
}

/* Write a rule body in one of its equivalent spellings. */
static struct bs_fuzz_text spelled(struct bs_gen_policies *gen, struct bs_fuzz_text body,
                                   bool negated) {
    static const char *const fronts[] = {"", "./", " ", "\t ", ".//", "././"};
    static const char *const backs[] = {"", "/", " ", "/ ", "//", "/."};
    uint32_t how = bs_fuzz_below(gen->from, 32);
    const char *front = how >= 16 && how < 22 ? fronts[how - 16] : "";
    if (!gen->flawed)
        front = bs_gen_shielded(body, front);
    const char *back = how >= 22 && how < 28 ? backs[how - 22] : "";
    size_t size = body.len + 16;
    char *text = bs_fuzz_take(gen->pool, size);
    int len = snprintf(text, size, "%s%s%.*s%s", negated ? "!" : "", front, (int)body.len,
                       body.text, back);
    for (char *c = text; how == 28 && *c != '\0'; c++)
        *c = *c == '/' ? '\\' : *c;
    return (struct bs_fuzz_text){text, (size_t)len};
}

static struct bs_fuzz_text broken(struct bs_gen_policies *gen) {
    static const char *const rules[] = {"",       "..",   "a/../b", "/a",   "~",   "~/a",
                                        "C:x",    "!",    "!!a",    " ",    "\\a", "./~",
                                        "./c:/d", "! !a", "a/..",   "**/.."};
    const char *rule = rules[bs_fuzz_below(gen->from, sizeof rules / sizeof *rules)];
    return (struct bs_fuzz_text){rule, strlen(rule)};
}

static void add_rule(struct bs_gen_policies *gen, struct bs_fuzz_node *list,
                     struct bs_fuzz_text body, bool negated) {
    struct bs_fuzz_text text =
        rarely(gen) && gen->flawed ? broken(gen) : spelled(gen, body, negated);
    bool other = gen->flawed && rarely(gen);
    add(list, other ? misfit(gen) : scalar(gen, BS_FUZZ_STRING, text));
}

static bool is_among(const struct bs_fuzz_text *texts, size_t n, struct bs_fuzz_text text) {
    for (size_t i = 0; i < n; i++) {
        if (texts[i].len == text.len && memcmp(texts[i].text, text.text, text.len) == 0)
            return true;
    }
    return false;
}

static struct bs_fuzz_text with(struct bs_gen_policies *gen, struct bs_fuzz_text front,
                                const char *back) {
    size_t size = front.len + strlen(back) + 1;
    char *text = bs_fuzz_take(gen->pool, size);
    (void)snprintf(text, size, "%.*s%s", (int)front.len, front.text, back);
    return (struct bs_fuzz_text){text, size - 1};
}

/* Return a rule body for a profile. A profile must not repeat a deny, so a body that equals a deny
 * is extended. */
static struct bs_fuzz_text own_body(struct bs_gen_policies *gen) {
    struct bs_fuzz_text body = bs_gen_rule_body(gen);
    while (!gen->flawed && is_among(gen->denies, gen->n_denies, body))
        body = with(gen, body, "/b");
    return body;
}

/* Add many distinct names, some of them with wildcards. */
static void add_crowd(struct bs_gen_policies *gen, struct bs_fuzz_node *list) {
    static const char *const forms[] = {"n%u", "n%u/**", "n%u*", "*n%u", "**/n%u", "%u/?", "a/n%u"};
    for (unsigned n = bs_fuzz_byte(gen->from); n > 0; n--) {
        char text[32];
        (void)snprintf(text, sizeof text, forms[(n ^ n >> 3) % 7], n);
        struct bs_fuzz_text body = {bs_fuzz_keep(gen->pool, text, strlen(text)), strlen(text)};
        add_rule(gen, list, body, n % 5 == 4);
        if (gen->n_rules < BS_GEN_MOST_RULES)
            gen->rules[gen->n_rules++] = body;
    }
}

static struct bs_fuzz_node *own_rules(struct bs_gen_policies *gen) {
    struct bs_fuzz_node *list = container(gen, BS_FUZZ_LIST);
    for (uint32_t n = bs_fuzz_below(gen->from, MOST_LIST); n > 0; n--)
        add_rule(gen, list, own_body(gen), bs_fuzz_below(gen->from, 4) == 3);
    if (gen->crowded)
        add_crowd(gen, list);
    return list;
}

static struct bs_fuzz_text deny(struct bs_gen_policies *gen) {
    struct bs_fuzz_text body = bs_gen_rule_body(gen);
    if (gen->n_denies < BS_GEN_MOST_RULES)
        gen->denies[gen->n_denies++] = body;
    return body;
}

static struct bs_fuzz_node *deny_read(struct bs_gen_policies *gen) {
    struct bs_fuzz_node *list = container(gen, BS_FUZZ_LIST);
    for (uint32_t n = bs_fuzz_below(gen->from, MOST_LIST); n > 0; n--)
        add_rule(gen, list, deny(gen), gen->flawed && bs_fuzz_below(gen->from, 16) == 15);
    return list;
}

/* Derive an exception that is allowed: inside a deny of the global policy or, in a workspace,
 * inside one of its exceptions. */
static bool exception(struct bs_gen_policies *gen, size_t first_deny, struct bs_fuzz_text *body) {
    static const char *const tails[] = {"/a", "/b", "/a/**", "/src/**", "/a/b", "", "/**"};
    const struct bs_fuzz_text *from = &gen->denies[first_deny];
    size_t n = gen->n_denies - first_deny;
    if (gen->is_workspace && !gen->flawed) {
        from = gen->exceptions;
        n = gen->n_exceptions;
    }
    if (n == 0)
        return false;
    struct bs_fuzz_text rule = from[bs_fuzz_below(gen->from, (uint32_t)n)];
    bool subtree = bs_gen_is_subtree(rule);
    if (subtree)
        rule.len -= strlen("/**");
    if (memchr(rule.text, '*', rule.len) != NULL || memchr(rule.text, '?', rule.len) != NULL)
        rule = bs_gen_instance(gen, rule);
    else if (!subtree && !gen->is_workspace)
        return false;
    *body = subtree ? with(gen, rule, tails[bs_fuzz_below(gen->from, 7)]) : rule;
    return !is_among(gen->denies, gen->n_denies, *body);
}

static struct bs_fuzz_node *deny_modify(struct bs_gen_policies *gen) {
    struct bs_fuzz_node *list = container(gen, BS_FUZZ_LIST);
    size_t first = gen->n_denies;
    for (uint32_t n = bs_fuzz_below(gen->from, MOST_LIST); n > 0; n--) {
        struct bs_fuzz_text body;
        if (bs_fuzz_below(gen->from, 3) != 2 || !exception(gen, first, &body)) {
            add_rule(gen, list, deny(gen), false);
            continue;
        }
        add_rule(gen, list, body, true);
        if (gen->n_exceptions < BS_GEN_MOST_RULES)
            gen->exceptions[gen->n_exceptions++] = body;
        if (gen->n_rules < BS_GEN_MOST_RULES)
            gen->rules[gen->n_rules++] = body;
    }
    return list;
}

/* Make a profile. A path that may be modified must be readable, so half of the profiles read
 * everything, and the others have their modify rules among the read rules too. */
static struct bs_fuzz_node *profile(struct bs_gen_policies *gen) {
    static const struct bs_fuzz_text everything = {"**", 2};
    struct bs_fuzz_node *map = container(gen, BS_FUZZ_MAP);
    struct bs_fuzz_node *read = own_rules(gen);
    struct bs_fuzz_node *modify = container(gen, BS_FUZZ_LIST);
    uint8_t reads = bs_fuzz_byte(gen->from);
    bool reads_all = reads % 2 == 1;
    for (uint32_t n = bs_fuzz_below(gen->from, MOST_LIST); n > 0; n--) {
        struct bs_fuzz_text body = own_body(gen);
        bool negated = bs_fuzz_below(gen->from, 4) == 3;
        if (!negated && !reads_all && !(gen->flawed && bs_fuzz_below(gen->from, 4) == 3))
            add_rule(gen, read, body, false);
        add_rule(gen, modify, body, negated);
    }
    if (reads_all || (gen->flawed && reads % 8 == 2))
        add_rule(gen, read, everything, !reads_all);
    add_field(gen, map, "read", read);
    add_field(gen, map, "modify", modify);
    return map;
}

static struct bs_fuzz_node *metadata(struct bs_gen_policies *gen) {
    static const char *const values[] = {"test", "default", "a-b_C9", "",
                                         "a.b",  "no",      "2",      "\xC3\xA9"};
    struct bs_fuzz_node *map = container(gen, BS_FUZZ_MAP);
    add_field(gen, map, "name", string(gen, values[gen->flawed ? bs_fuzz_below(gen->from, 8) : 0]));
    static const char *const pairs[] = {"labels", "annotations"};
    for (size_t i = 0; i < 2 && rarely(gen); i++) {
        struct bs_fuzz_node *strings = container(gen, BS_FUZZ_MAP);
        add_field(gen, strings, names[bs_fuzz_below(gen->from, NAMES)],
                  string(gen, values[bs_fuzz_below(gen->from, 8)]));
        add_field(gen, map, pairs[i], strings);
    }
    return map;
}

/* Characters that must be escaped in a file, and the characters next to them in Unicode. */
#define UNSEEN                                                                                     \
    "\xE2\x80\xA8\x7F\xC2\x85\xC2\xA0\xE2\x80\x81\xE2\x81\x80\xEF\xBF\xBE\xEF\xBF\xBD\xEF\xBC\x81"

static struct bs_fuzz_node *description(struct bs_gen_policies *gen) {
    static const char *const texts[] = {"",       "a policy", "two\nlines", "ends\n",
                                        " blank", "\"'\\/",   UNSEEN,       "\xF0\x9F\x98\x80",
                                        "true",   "#"};
    return string(gen, texts[bs_fuzz_below(gen->from, sizeof texts / sizeof *texts)]);
}

static struct bs_fuzz_node *spec(struct bs_gen_policies *gen) {
    struct bs_fuzz_node *map = container(gen, BS_FUZZ_MAP);
    if (rarely(gen))
        add_field(gen, map, "description", description(gen));
    struct bs_fuzz_node *denies = deny_read(gen);
    struct bs_fuzz_node *modify = deny_modify(gen);
    struct bs_fuzz_node *profiles = container(gen, BS_FUZZ_MAP);
    uint32_t first = bs_fuzz_below(gen->from, NAMES);
    for (uint32_t n = bs_fuzz_below(gen->from, MOST_PROFILES + 1); n > 0; n--) {
        const char *name = names[(first + n) % NAMES];
        if (gen->n_profiles < BS_GEN_MOST_PROFILES)
            gen->profiles[gen->n_profiles++] = name;
        add_field(gen, profiles, name, profile(gen));
    }
    add_field(gen, map, "denyRead", denies);
    add_field(gen, map, "denyModify", modify);
    add_field(gen, map, "fsProfiles", profiles);
    return map;
}

struct bs_fuzz_node *bs_gen_policy(struct bs_gen_policies *gen) {
    struct bs_fuzz_node *root = container(gen, BS_FUZZ_MAP);
    static const struct bs_fuzz_text two = {"2", 1};
    struct bs_fuzz_node *head = metadata(gen);
    struct bs_fuzz_node *body = spec(gen);
    add_field(gen, root, "schemaVersion", scalar(gen, BS_FUZZ_INTEGER, two));
    add_field(gen, root, "kind", string(gen, "Policy"));
    add_field(gen, root, "metadata", head);
    add_field(gen, root, "spec", body);
    gen->is_workspace = true;
    return root;
}

const char *bs_gen_profile_name(struct bs_gen_policies *gen) {
    if (gen->n_profiles > 0 && bs_fuzz_below(gen->from, 4) != 3)
        return gen->profiles[bs_fuzz_below(gen->from, (uint32_t)gen->n_profiles)];
    uint32_t number = bs_fuzz_below(gen->from, NAMES + 1);
    return number < NAMES ? names[number] : NULL;
}
