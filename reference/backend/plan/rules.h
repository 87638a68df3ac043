/* Finds the rules of a policy that a mechanism does not enforce, for the report. */
#ifndef BS_BACKEND_PLAN_RULES_H
#define BS_BACKEND_PLAN_RULES_H

#include <boxspec/backend.h>
#include <boxspec/profile.h>

#include "backend/plan/planned.h"

/* Return the length of the path at the start of a rule if the rule has no wildcard, otherwise 0.
 * For `a/b` this is the whole rule. For `a/b/<two stars>` it is the length of `a/b`, and *tree is
 * true. */
size_t bs_rule_literal(const char *rule, bool *tree);

/* Numbers of rules that are not enforced. The index is an enum bs_op. */
struct bs_unenforced_rules {
    unsigned reported[2];
    unsigned partial[2]; /* those of the reported rules that make their aspect partial */
};

/* For mounts: count the rules that are not enforced, and add them to the report. If `planned` is
 * NULL, these are the rules that mounts can enforce in no workspace; otherwise the rules that the
 * planned mounts do not enforce in the workspace of the context. Returns false if memory ran
 * out. */
bool bs_rules_of_mounts(const struct bs_profile *profile, const struct bs_backend_context *context,
                        const struct bs_planned *planned, struct bs_backend_report *report,
                        struct bs_unenforced_rules *unenforced);

/* As bs_rules_of_mounts, for Landlock. Landlock cannot deny a path, only grant access to it, so it
 * enforces fewer rules. */
bool bs_rules_of_grants(const struct bs_profile *profile, const struct bs_backend_context *context,
                        struct bs_backend_report *report, struct bs_unenforced_rules *unenforced);

/* Add one rule to the report, spelled as in the policy. Returns false if memory ran out. */
bool bs_report_entry(struct bs_backend_report *report, const struct bs_entry *entry,
                     const char *why);

#endif
