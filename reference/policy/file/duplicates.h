/* Keys that a map has twice. cJSON and libyaml hand both over. */
#ifndef BS_POLICY_FILE_DUPLICATES_H
#define BS_POLICY_FILE_DUPLICATES_H

#include "policy/file/node.h"
#include "policy/file/problems.h"

/* Reports each repetition in the whole tree at its key, and takes it out of the tree: the first
 * value counts from then on. */
void bs_duplicates_drop(struct bs_node *root, struct bs_problems *problems);

#endif
