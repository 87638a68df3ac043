/* Keeps the policy of the last request and a few of its profiles, so that the next request with the
 * same text need not load and compile them again. */
#ifndef BS_SHIM_POLICIES_H
#define BS_SHIM_POLICIES_H

#include "shim/ops.h"
#include "shim/policy_request.h"

enum { BS_POLICIES_PROFILES = 16 };

struct bs_policies {
    struct bs_texts texts; /* copies of the texts */
    struct bs_policy *policy;
    struct {
        struct bs_profile *profile;
        bool fold;
    } compiled[BS_POLICIES_PROFILES];
    size_t n_compiled;
};

/* Load the policy of these texts, unless it is loaded already. Returns as bs_policy_load does. */
int bs_policies_load(struct bs_policies *policies, const struct bs_texts *texts,
                     struct bs_policy_report *report, struct bs_error *err);

/* Return a profile of the loaded policy. *out is valid until the next call. Returns as
 * bs_profile_compile does. */
int bs_policies_profile(struct bs_policies *policies, const char *name, bool fold,
                        const struct bs_profile **out, struct bs_error *err);

/* Load the policy and compile the profile, for an operation on one policy. If the request, the
 * policy or the name of the profile is wrong, write the whole answer and return false. */
bool bs_open_policy(const struct bs_call *call, struct bs_decoder *decoder,
                    const struct bs_texts *texts, struct bs_json_writer *out,
                    enum bs_answer *answer);
bool bs_open_profile(const struct bs_call *call, struct bs_decoder *decoder, const char *name,
                     bool fold, const struct bs_profile **profile, struct bs_json_writer *out,
                     enum bs_answer *answer);

void bs_policies_clear(struct bs_policies *policies);

#endif
