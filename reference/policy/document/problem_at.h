/* Problems and warnings of rules: the pointer of a rule is made of where it stands in the model. */
#ifndef BS_POLICY_DOCUMENT_PROBLEM_AT_H
#define BS_POLICY_DOCUMENT_PROBLEM_AT_H

#include "policy/file/problems.h"
#include "policy/model.h"

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
