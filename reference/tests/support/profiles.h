/* Profiles out of a few words: most of what a check has to get right can be said in one line. */
#ifndef BS_TESTS_PROFILES_H
#define BS_TESTS_PROFILES_H

#include <boxspec/profile.h>

/* The text of a policy around the members of `spec`; the caller frees it. */
char *policy_text(const char *spec);

/* The profile of a policy, and perhaps of a workspace's over it; both are the members of a `spec`,
 * in JSON with ' for ". Fails the test unless it loads. */
struct bs_profile *profile_of(const char *spec, const char *workspace, const char *name,
                              unsigned flags);

/* Fails the test unless the answer is this one. */
void assert_allowed(const struct bs_profile *profile, enum bs_op op, const char *path,
                    const char *rule);
void assert_denied(const struct bs_profile *profile, enum bs_op op, const char *path,
                   const char *rule);

#endif
