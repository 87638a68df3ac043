#include "policy/file/node.h"

#include <string.h>

#include "base/arena.h"
#include "base/table.h"
#include "policy/file/problems.h"

void bs_document_clear(struct bs_document *document) {
    bs_arena_free(document->arena);
    *document = (struct bs_document)BS_DOCUMENT_INIT;
}

bool bs_node_is(const struct bs_node *node, const char *text) {
    if (node->kind != BS_NODE_STRING || node->len == 0 || node->text[0] != text[0])
        return false; /* most names differ in the first byte */
    size_t len = strlen(text);
    return node->len == len && memcmp(node->text, text, len) == 0;
}

const struct bs_node *bs_node_member(const struct bs_node *map, const char *name) {
    for (const struct bs_node *key = map->first; key != NULL; key = key->next->next) {
        if (bs_node_is(key, name))
            return key->next;
    }
    return NULL;
}

/* Up to this number of names, comparing each pair is faster than using a table. */
enum { FEW = 8 };

static void visit(struct bs_node *node, const struct bs_pointer *pointer,
                  struct bs_problems *problems);

static bool same(const struct bs_node *a, const struct bs_node *b) {
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static bool among_few(const struct bs_node *map, const struct bs_node *key) {
    const struct bs_node *before = map->first;
    while (before != key && !same(before, key))
        before = before->next->next;
    return before != key;
}

static bool among_many(struct bs_table *table, uint64_t seed, const struct bs_node *key) {
    bool added = false;
    uint32_t hash = (uint32_t)bs_table_hash(seed, key->text, key->len);
    bs_table_add(table, hash, key->text, key->len, 0, &added);
    return !added;
}

static void visit_map(struct bs_node *map, const struct bs_pointer *pointer,
                      struct bs_problems *problems) {
    struct bs_table table;
    bool many = map->len > FEW;
    if (!bs_table_init(&table, many ? map->len : 0)) {
        problems->failed = true;
        return;
    }
    uint64_t seed = many ? bs_table_seed(table.slots) : 0;
    struct bs_node **link = &map->first;
    while (*link != NULL) {
        struct bs_node *key = *link;
        struct bs_pointer member = {pointer, key->text, key->len, 0};
        visit(key->next, &member, problems);
        if (many ? among_many(&table, seed, key) : among_few(map, key)) {
            bs_problems_add(problems, (struct bs_place){key->line, key->column}, &member, NULL,
                            "this key occurs for the second time");
            *link = key->next->next;
            map->len--;
        } else {
            link = &key->next->next;
        }
    }
    bs_table_clear(&table);
}

static void visit(struct bs_node *node, const struct bs_pointer *pointer,
                  struct bs_problems *problems) {
    if (node->kind == BS_NODE_MAP) {
        visit_map(node, pointer, problems);
    } else if (node->kind == BS_NODE_LIST) {
        struct bs_pointer item = {pointer, NULL, 0, 0};
        for (struct bs_node *child = node->first; child != NULL; child = child->next) {
            if (child->kind >= BS_NODE_LIST)
                visit(child, &item, problems);
            item.index++;
        }
    }
}

void bs_duplicates_drop(struct bs_node *root, struct bs_problems *problems) {
    visit(root, NULL, problems);
}
