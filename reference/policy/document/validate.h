/* Checks conditions that a policy must meet besides being well-formed (POLICY-VALID, POLICY-EXCEPT,
 * POLICY-MERGE-04 and -05). The functions report problems. They return false if memory ran out. */
#ifndef BS_POLICY_DOCUMENT_VALIDATE_H
#define BS_POLICY_DOCUMENT_VALIDATE_H

#include <stdbool.h>

#include "policy/document/cover.h"
#include "policy/file/problems.h"
#include "policy/model.h"

/* The denies of a policy, together with those of the policy above it, if there is one. */
struct bs_denies {
    struct bs_cover read;
    /* denyModify without its exceptions, which do not cancel denies in these checks */
    struct bs_cover modify;
};

/* `denies` must be zeroed or cleared. */
bool bs_denies_fill(struct bs_denies *denies, const struct bs_policy *policy,
                    const struct bs_policy *above);
/* may be called for zeroed denies, and several times */
void bs_denies_clear(struct bs_denies *denies);

/* Check the profiles of one file against all denies that apply to it. */
bool bs_validate_profiles(const struct bs_policy *policy, const struct bs_denies *denies,
                          struct bs_problems *problems);

/* Check the exceptions of one file. Those of the global file (`above` is NULL) are checked against
 * its own denies, those of a workspace against the exceptions of the global file. */
bool bs_validate_exceptions(const struct bs_policy *policy, const struct bs_policy *above,
                            struct bs_problems *problems);

/* Report a problem or a warning about a rule or a profile of the model. The functions write the
 * JSON pointer. */

/* `list` is "denyRead" or "denyModify". */
void bs_problem_at_deny(struct bs_problems *problems, const char *list, const struct bs_rule *rule,
                        const char *code, const char *message);

/* `list` is "read" or "modify". */
void bs_problem_at_rule(struct bs_problems *problems, const struct bs_profile_rules *profile,
                        const char *list, const struct bs_rule *rule, const char *code,
                        const char *message);

void bs_problem_at_profile(struct bs_problems *problems, const struct bs_profile_rules *profile,
                           const char *code, const char *message);

#endif
