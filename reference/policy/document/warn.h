/* Warnings about valid but probably unintended rules (POLICY-WARN). */
#ifndef BS_POLICY_DOCUMENT_WARN_H
#define BS_POLICY_DOCUMENT_WARN_H

#include <stdbool.h>

#include "policy/document/validate.h"
#include "policy/file/problems.h"
#include "policy/model.h"

/* Warns about a policy without problems, after merging. `denies` has all denies of its files. False
 * when memory ran out. */
bool bs_policy_warn(const struct bs_policy *policy, const struct bs_denies *denies,
                    struct bs_problems *warnings);

#endif
