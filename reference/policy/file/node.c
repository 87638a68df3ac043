#include "policy/file/node.h"

#include <string.h>

#include "base/arena.h"

void bs_document_clear(struct bs_document *document) {
    bs_arena_free(document->arena);
    *document = (struct bs_document)BS_DOCUMENT_INIT;
}

bool bs_node_is(const struct bs_node *node, const char *text) {
    if (node->kind != BS_NODE_STRING || node->len == 0 || node->text[0] != text[0])
        return false; /* most names differ in their first byte */
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
