/* What a well-formed policy may not say (POLICY-VALID, POLICY-EXCEPT, POLICY-MERGE-04 and -05). All
 * three return false when memory ran out; problems go where they belong either way. */
#ifndef BS_POLICY_VALIDATE_H
#define BS_POLICY_VALIDATE_H

#include <stdbool.h>

#include "policy/model.h"
#include "policy/problems.h"

/* The profiles of one file. `above` is the global policy when the file is a workspace's: its denies
 * count too. */
bool bs_validate_profiles(const struct bs_policy *policy, const struct bs_policy *above,
                          struct bs_problems *problems);

/* The exceptions of one file: of the global one by its own denies (above is NULL), of a
 * workspace's by the global exceptions. */
bool bs_validate_exceptions(const struct bs_policy *policy, const struct bs_policy *above,
                            struct bs_problems *problems);

#endif
