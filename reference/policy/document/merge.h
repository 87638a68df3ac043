/* A workspace's policy over the global one (POLICY-MERGE). */
#ifndef BS_POLICY_DOCUMENT_MERGE_H
#define BS_POLICY_DOCUMENT_MERGE_H

#include <stdbool.h>

#include "policy/model.h"

/* Merges `over` into `policy`. Both must have the same arena. False when memory ran out; the policy
 * can then only be freed. */
bool bs_policy_merge(struct bs_policy *policy, const struct bs_policy *over);

#endif
