#include "policy/file/duplicates.h"

#include <string.h>

#include "base/table.h"

/* Up to here comparing each with each is cheaper than a table. */
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
                            "this key stands here for the second time");
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
