/* What a well-formed policy may not say (POLICY-VALID, POLICY-EXCEPT, POLICY-MERGE-04 and -05). All
 * return false when memory ran out; problems go where they belong either way. */
#ifndef BS_POLICY_DOCUMENT_VALIDATE_H
#define BS_POLICY_DOCUMENT_VALIDATE_H

#include <stdbool.h>

#include "policy/document/cover.h"
#include "policy/file/problems.h"
#include "policy/model.h"

/* The denies of a policy, and of the one above it if there is one. */
struct bs_denies {
    struct bs_cover read;
    struct bs_cover modify; /* an exception takes nothing away from it */
};

/* `denies` is zeroed or cleared. */
bool bs_denies_fill(struct bs_denies *denies, const struct bs_policy *policy,
                    const struct bs_policy *above);
void bs_denies_clear(struct bs_denies *denies); /* a zeroed one, too, and twice */

/* The profiles of one file, by all denies that count for it. */
bool bs_validate_profiles(const struct bs_policy *policy, const struct bs_denies *denies,
                          struct bs_problems *problems);

/* The exceptions of one file: of the global one by its own denies (above is NULL), of a
 * workspace's by the global exceptions. */
bool bs_validate_exceptions(const struct bs_policy *policy, const struct bs_policy *above,
                            struct bs_problems *problems);

/* Problems and warnings about rules. Their pointers are made of where a rule stands in the model.
 */

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
