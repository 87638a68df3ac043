/* Build profiles from short texts, so that most tests of a policy check fit into one line. */
#ifndef BS_TESTS_PROFILES_H
#define BS_TESTS_PROFILES_H

#include <boxspec/profile.h>

/* Return the text of a policy with these members of `spec`; the caller frees it. */
char *policy_text(const char *spec);

/* Return the profile of a policy, possibly with a workspace policy over it; both are the members of
 * a `spec`, in JSON with ' for ". Fails the test unless it loads. */
struct bs_profile *profile_of(const char *spec, const char *workspace, const char *name,
                              unsigned flags);

/* Fail the test unless the answer is this one. */
void assert_allowed(const struct bs_profile *profile, enum bs_op op, const char *path,
                    const char *rule);
void assert_denied(const struct bs_profile *profile, enum bs_op op, const char *path,
                   const char *rule);

#endif
