#include "shim/policies.h"

#include <stdlib.h>
#include <string.h>

#include "shim/policy_answer.h"

static bool same_text(const struct bs_policy_text *a, const struct bs_policy_text *b) {
    return a->format == b->format && a->len == b->len &&
           (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

static bool same_texts(const struct bs_texts *a, const struct bs_texts *b) {
    return a->has_workspace == b->has_workspace && same_text(&a->global, &b->global) &&
           same_text(&a->workspace, &b->workspace);
}

/* Copy both texts into one block, which global.data points to. */
static bool copy_texts(struct bs_texts *to, const struct bs_texts *from) {
    char *block = malloc(from->global.len + from->workspace.len + 1);
    if (block == NULL)
        return false;
    *to = *from;
    to->global.data = block;
    to->workspace.data = block + from->global.len;
    memcpy(block, from->global.data, from->global.len);
    if (from->has_workspace)
        memcpy(block + from->global.len, from->workspace.data, from->workspace.len);
    return true;
}

static void drop_profiles(struct bs_policies *policies) {
    for (size_t i = 0; i < policies->n_compiled; i++)
        bs_profile_free(policies->compiled[i].profile);
    policies->n_compiled = 0;
}

void bs_policies_clear(struct bs_policies *policies) {
    drop_profiles(policies);
    bs_policy_free(policies->policy);
    policies->policy = NULL;
    free((void *)(uintptr_t)policies->texts.global.data);
    policies->texts = (struct bs_texts){0};
}

int bs_policies_load(struct bs_policies *policies, const struct bs_texts *texts,
                     struct bs_policy_report *report, struct bs_error *err) {
    if (policies->policy != NULL && same_texts(&policies->texts, texts))
        return BS_OK;
    struct bs_policy *policy = NULL;
    int code = bs_policy_load(&texts->global, texts->has_workspace ? &texts->workspace : NULL,
                              &policy, report, err);
    if (code != BS_OK)
        return code;
    bs_policies_clear(policies);
    policies->policy = policy;
    if (!copy_texts(&policies->texts, texts)) {
        bs_policies_clear(policies);
        if (err != NULL)
            *err = (struct bs_error){BS_E_EXECUTION, 0, "out of memory for the policy"};
        return BS_E_EXECUTION;
    }
    return BS_OK;
}

int bs_policies_profile(struct bs_policies *policies, const char *name, bool fold,
                        const struct bs_profile **out, struct bs_error *err) {
    const char *wanted = name != NULL ? name : BS_UNRESTRICTED;
    for (size_t i = 0; i < policies->n_compiled; i++) {
        *out = policies->compiled[i].profile;
        if (policies->compiled[i].fold == fold && strcmp(bs_profile_name(*out), wanted) == 0)
            return BS_OK;
    }
    struct bs_profile *profile = NULL;
    int code = bs_profile_compile(policies->policy, name, fold ? BS_FOLD : 0, &profile, err);
    if (code != BS_OK)
        return code;
    if (policies->n_compiled == BS_POLICIES_PROFILES)
        drop_profiles(policies);
    policies->compiled[policies->n_compiled].profile = profile;
    policies->compiled[policies->n_compiled].fold = fold;
    policies->n_compiled++;
    *out = profile;
    return BS_OK;
}

bool bs_open_policy(const struct bs_call *call, struct bs_decoder *decoder,
                    const struct bs_texts *texts, struct bs_json_writer *out,
                    enum bs_answer *answer) {
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    bs_refuse_nul(decoder);
    if (bs_decoder_failed(decoder)) {
        *answer = bs_answer_problems(out, call->id, decoder);
        return false;
    }
    int code = bs_policies_load(call->policies, texts, &report, &err);
    if (code != BS_OK)
        *answer = bs_answer_unloaded(out, call->id, code, &err, &report);
    bs_policy_report_clear(&report);
    return code == BS_OK;
}

bool bs_open_profile(const struct bs_call *call, struct bs_decoder *decoder, const char *name,
                     bool fold, const struct bs_profile **profile, struct bs_json_writer *out,
                     enum bs_answer *answer) {
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_policies_profile(call->policies, name, fold, profile, &err);
    if (code == BS_OK)
        return true;
    if (code == BS_E_INVALID) {
        bs_problem(decoder, "/profile", "%.400s", err.message);
        *answer = bs_answer_problems(out, call->id, decoder);
    } else {
        *answer = bs_answer_error(out, call->id, code, err.message);
    }
    return false;
}
