/* Conditions that a well-formed policy must also meet (POLICY-VALID, POLICY-EXCEPT, POLICY-MERGE-04
 * and -05). The functions report problems and return false if memory ran out. */
#ifndef BS_POLICY_DOCUMENT_VALIDATE_H
#define BS_POLICY_DOCUMENT_VALIDATE_H

#include <stdbool.h>

#include "policy/document/cover.h"
#include "policy/file/problems.h"
#include "policy/model.h"

/* The denies of a policy, and of the one above it if there is one. */
struct bs_denies {
    struct bs_cover read;
    struct bs_cover modify; /* without exceptions, which cancel no deny here */
};

/* `denies` is zeroed or cleared. */
bool bs_denies_fill(struct bs_denies *denies, const struct bs_policy *policy,
                    const struct bs_policy *above);
void bs_denies_clear(struct bs_denies *denies); /* also of zeroed ones, and any number of times */

/* Checks the profiles of one file by all denies that count for it. */
bool bs_validate_profiles(const struct bs_policy *policy, const struct bs_denies *denies,
                          struct bs_problems *problems);

/* Checks the exceptions of one file: those of the global file (`above` is NULL) against its own
 * denies, those of a workspace against the global exceptions. */
bool bs_validate_exceptions(const struct bs_policy *policy, const struct bs_policy *above,
                            struct bs_problems *problems);

/* Problems and warnings about a rule or a profile of the model. They make its JSON pointer. */

/* list: "denyRead" or "denyModify". */
void bs_problem_at_deny(struct bs_problems *problems, const char *list, const struct bs_rule *rule,
                        const char *code, const char *message);

/* list: "read" or "modify". */
void bs_problem_at_rule(struct bs_problems *problems, const struct bs_profile_rules *profile,
                        const char *list, const struct bs_rule *rule, const char *code,
                        const char *message);

void bs_problem_at_profile(struct bs_problems *problems, const struct bs_profile_rules *profile,
                           const char *code, const char *message);

#endif
