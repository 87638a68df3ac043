/* Checks conditions that a policy must meet besides being well-formed (POLICY-VALID, POLICY-EXCEPT,
 * POLICY-MERGE-04 and -05). The functions report problems. They return false if memory ran out. */
#ifndef BS_POLICY_DOCUMENT_VALIDATE_H
#define BS_POLICY_DOCUMENT_VALIDATE_H

#include <stdbool.h>

#include "policy/document/cover.h"
#include "policy/file/problems.h"
#include "policy/model.h"

/* The denies of a policy and those of the policy above it, if there is one. */
struct bs_denies {
    struct bs_cover read;
    /* denyModify without exceptions, because an exception does not cancel a deny in these checks */
    struct bs_cover modify;
};

/* Collect the denies that apply to a policy. `denies` must be zeroed or cleared before. */
bool bs_denies_fill(struct bs_denies *denies, const struct bs_policy *policy,
                    const struct bs_policy *above);
/* May be called for zeroed denies, and several times. */
void bs_denies_clear(struct bs_denies *denies);

/* Check the profiles of one file against all denies that apply to the file. */
bool bs_validate_profiles(const struct bs_policy *policy, const struct bs_denies *denies,
                          struct bs_problems *problems);

/* Check the exceptions of one file. The global file has `above` NULL, and its exceptions are
 * checked against its own denies. The exceptions of a workspace are checked against those of the
 * global file. */
bool bs_validate_exceptions(const struct bs_policy *policy, const struct bs_policy *above,
                            struct bs_problems *problems);

/* The functions below report a problem or a warning about a rule or a profile, with its JSON
 * pointer. */

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
