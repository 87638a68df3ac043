/* A workspace's policy over the global one (POLICY-MERGE). */
#ifndef BS_POLICY_DOCUMENT_MERGE_H
#define BS_POLICY_DOCUMENT_MERGE_H

#include <stdbool.h>

#include "policy/model.h"

/* Lays `over` over `policy`, which becomes the merged one. Both must have the same arena. False
 * when memory ran out; the policy is then of no use. */
bool bs_policy_merge(struct bs_policy *policy, const struct bs_policy *over);

#endif
