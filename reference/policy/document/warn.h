/* What is allowed and probably not meant (POLICY-WARN). */
#ifndef BS_POLICY_DOCUMENT_WARN_H
#define BS_POLICY_DOCUMENT_WARN_H

#include <stdbool.h>

#include "policy/document/validate.h"
#include "policy/file/problems.h"
#include "policy/model.h"

/* Of a policy without problems, merged if it has two files, and all its denies. False when memory
 * ran out. */
bool bs_policy_warn(const struct bs_policy *policy, const struct bs_denies *denies,
                    struct bs_problems *warnings);

#endif
