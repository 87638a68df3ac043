/* Merges the policy of a workspace over the global policy (POLICY-MERGE). */
#ifndef BS_POLICY_DOCUMENT_MERGE_H
#define BS_POLICY_DOCUMENT_MERGE_H

#include <stdbool.h>

#include "policy/model.h"

/* Merge `over` into `policy`. Both must use the same arena. Returns false if memory ran out; the
 * policy may then only be freed. */
bool bs_policy_merge(struct bs_policy *policy, const struct bs_policy *over);

#endif
