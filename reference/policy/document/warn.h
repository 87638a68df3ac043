/* Finds rules that are valid but probably not intended (POLICY-WARN). */
#ifndef BS_POLICY_DOCUMENT_WARN_H
#define BS_POLICY_DOCUMENT_WARN_H

#include <stdbool.h>

#include "policy/document/validate.h"
#include "policy/file/problems.h"
#include "policy/model.h"

/* Add the warnings about a policy that is free of problems, after merging. `denies` has the denies
 * of all its files. Returns false if memory ran out. */
bool bs_policy_warn(const struct bs_policy *policy, const struct bs_denies *denies,
                    struct bs_problems *warnings);

#endif
