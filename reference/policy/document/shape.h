/* From a tree to the model: which fields there are, of which type, and rules in normal form. */
#ifndef BS_POLICY_DOCUMENT_SHAPE_H
#define BS_POLICY_DOCUMENT_SHAPE_H

#include <stdbool.h>

#include "policy/file/node.h"
#include "policy/file/problems.h"
#include "policy/model.h"

/* True if this is a policy of version 2. Reads only the version: other versions may give their
 * fields another meaning. */
bool bs_shape_is_policy(const struct bs_node *root, enum bs_policy_format format,
                        struct bs_problems *problems);

/* Gets the value of an integer, as both formats write it. False if the node is no integer. A
 * number that does not fit becomes INT64_MAX or INT64_MIN. */
bool bs_shape_integer(const struct bs_node *node, int64_t *value);

/* Whether a node may be `metadata.name`. */
bool bs_shape_is_name(const struct bs_node *node);

/* Fills the policy, of which only the arena and the seed are set, with everything that is right,
 * and reports everything that is not. False when memory ran out. */
bool bs_shape_read(const struct bs_node *root, enum bs_policy_format format,
                   struct bs_problems *problems, struct bs_policy *policy);

#endif
