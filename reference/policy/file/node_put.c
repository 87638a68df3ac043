#include "policy/file/node_put.h"

#include "policy/file/print.h"

void bs_node_put(struct bs_buf *out, const struct bs_node *node) {
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
        bs_node_put(out, child);
        if (child->next != NULL)
            bs_buf_str(out, is_key ? ": " : ", ");
        is_key = map && !is_key;
    }
    bs_buf_char(out, map ? '}' : ']');
}
