/* The rules of a policy that a mechanism does not enforce, for the report. */
#ifndef BS_BACKEND_PLAN_RULES_H
#define BS_BACKEND_PLAN_RULES_H

#include <boxspec/backend.h>
#include <boxspec/profile.h>

/* Returns the length of the path at the start of a rule if it has no wildcard, otherwise 0. For
 * `a/b` this is all of it. For `a/b/<two stars>` it is `a/b`, and *tree is true. */
size_t bs_rule_literal(const char *rule, bool *tree);

/* How many rules are not enforced, by enum bs_op. */
struct bs_unenforced_rules {
    unsigned reported[2];
    unsigned partial[2]; /* the number of these that make their aspect partial */
};

/* These count the rules and add them to the report. False: out of memory. */

/* By mounts. `root` NULL: the rules that are not enforced in any workspace. Otherwise those that
 * are not enforced in the workspace at `root`. */
bool bs_rules_of_mounts(const struct bs_profile *profile, const struct bs_backend_context *context,
                        const char *root, struct bs_backend_report *report,
                        struct bs_unenforced_rules *unenforced);

/* By Landlock, which only grants. */
bool bs_rules_of_grants(const struct bs_profile *profile, const struct bs_backend_context *context,
                        struct bs_backend_report *report, struct bs_unenforced_rules *unenforced);

/* Adds one rule to the report, written as in the policy. False: out of memory. */
bool bs_report_entry(struct bs_backend_report *report, const struct bs_entry *entry,
                     const char *why);

#endif
