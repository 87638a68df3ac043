/* Builds profiles from short texts, so that most tests of checks fit into one line. */
#ifndef BS_TESTS_PROFILES_H
#define BS_TESTS_PROFILES_H

#include <boxspec/profile.h>

/* Return the text of a policy with these members of `spec`; the caller frees it. */
char *policy_text(const char *spec);

/* Return the profile of a policy. If there is a workspace policy, it is merged over the policy.
 * Both are the members of a `spec`, in JSON with ' in place of ". Fails the test if they cannot be
 * loaded. */
struct bs_profile *profile_of(const char *spec, const char *workspace, const char *name,
                              unsigned flags);

/* Fail the test unless the path is allowed (or denied) by this rule. */
void assert_allowed(const struct bs_profile *profile, enum bs_op op, const char *path,
                    const char *rule);
void assert_denied(const struct bs_profile *profile, enum bs_op op, const char *path,
                   const char *rule);

#endif
