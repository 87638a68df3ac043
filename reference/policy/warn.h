/* What is allowed and probably not meant (POLICY-WARN). */
#ifndef BS_POLICY_WARN_H
#define BS_POLICY_WARN_H

#include <stdbool.h>

#include "policy/model.h"
#include "policy/problems.h"

/* Of a policy without problems, merged if it has two files. False when memory ran out. */
bool bs_policy_warn(const struct bs_policy *policy, struct bs_problems *warnings);

#endif
