/* Turns a tree into the model: checks that the fields are known and have the right type, and brings
 * rules into normal form. */
#ifndef BS_POLICY_DOCUMENT_SHAPE_H
#define BS_POLICY_DOCUMENT_SHAPE_H

#include <stdbool.h>

#include "policy/file/node.h"
#include "policy/file/problems.h"
#include "policy/model.h"

/* True if this is a policy of version 2. Only the version is examined, because other versions may
 * use the same fields with another meaning. */
bool bs_shape_is_policy(const struct bs_node *root, enum bs_policy_format format,
                        struct bs_problems *problems);

/* Read an integer as JSON or YAML writes it. Returns false if the node is not an integer. A number
 * that does not fit becomes INT64_MAX or INT64_MIN. */
bool bs_shape_integer(const struct bs_node *node, int64_t *value);

/* True if the node can be the value of `metadata.name`. */
bool bs_shape_is_name(const struct bs_node *node);

/* Fill the policy with all valid parts of the tree, and report the invalid ones. Before the call,
 * only the arena and the seed of the policy are set. Returns false if memory ran out. */
bool bs_shape_read(const struct bs_node *root, enum bs_policy_format format,
                   struct bs_problems *problems, struct bs_policy *policy);

#endif
