/* The policy that was asked about last, compiled, so that a caller who asks again does not pay
 * again. One policy and a few of its profiles, whatever is asked; told apart by their whole
 * text. */
#ifndef BS_SHIM_POLICIES_H
#define BS_SHIM_POLICIES_H

#include "shim/ops.h"
#include "shim/policy_request.h"

enum { BS_POLICIES_PROFILES = 16 };

struct bs_policies {
    struct bs_texts texts; /* owned copies */
    struct bs_policy *policy;
    struct {
        struct bs_profile *profile;
        bool fold;
    } compiled[BS_POLICIES_PROFILES];
    size_t n_compiled;
};

/* Makes the policy of these texts the one that is kept. Returns like bs_policy_load. */
int bs_policies_load(struct bs_policies *policies, const struct bs_texts *texts,
                     struct bs_policy_report *report, struct bs_error *err);

/* A profile of the policy that is kept; *out lives until the next call. Returns like
 * bs_profile_compile. */
int bs_policies_profile(struct bs_policies *policies, const char *name, bool fold,
                        const struct bs_profile **out, struct bs_error *err);

/* Both for an operation that is about one policy: true, or the whole answer stands in `out` and
 * says what is wrong with the request, with the policy or with the name of the profile. */
bool bs_open_policy(const struct bs_call *call, struct bs_decoder *decoder,
                    const struct bs_texts *texts, struct bs_json_writer *out,
                    enum bs_answer *answer);
bool bs_open_profile(const struct bs_call *call, struct bs_decoder *decoder, const char *name,
                     bool fold, const struct bs_profile **profile, struct bs_json_writer *out,
                     enum bs_answer *answer);

void bs_policies_clear(struct bs_policies *policies);

#endif
