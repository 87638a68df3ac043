/* A tree as one line of JSON, for people. */
#ifndef BS_POLICY_FILE_NODE_PUT_H
#define BS_POLICY_FILE_NODE_PUT_H

#include "base/buf.h"
#include "policy/file/node.h"

void bs_node_put(struct bs_buf *out, const struct bs_node *node);

#endif
