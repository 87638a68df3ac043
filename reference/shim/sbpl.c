#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "shim/ops.h"
#include "shim/policies.h"
#include "shim/sbpl_request.h"

/* The policy from the member `rules` or `policy`, and the name of the profile. */
struct source {
    struct bs_texts texts;
    const char *profile;
    bool rules;
};

static void decode_source(struct bs_decoder *decoder, const cJSON *request, struct source *source) {
    const cJSON *rules = cJSON_GetObjectItemCaseSensitive(request, "rules");
    const cJSON *policy = cJSON_GetObjectItemCaseSensitive(request, "policy");
    *source = (struct source){.profile = BS_RULES_PROFILE, .rules = rules != NULL};
    const char *profile = bs_decode_text(decoder, request, "", "profile", false);
    if (rules != NULL && policy != NULL)
        bs_problem(decoder, "/rules", "give `rules` or `policy`, not both");
    else if (rules != NULL && profile != NULL)
        bs_problem(decoder, "/profile", "belongs to `policy`; `rules` are one profile");
    else if (rules != NULL)
        bs_decode_rules(decoder, rules, &source->texts);
    else if (policy == NULL)
        bs_problem(decoder, "/rules", "`rules` (or `policy`) is missing");
    else
        bs_decode_policy(decoder, request, &source->texts);
    if (rules == NULL)
        source->profile = profile;
}

/* Make a policy from the member `rules`. The caller did not write the text of this policy, so
 * problems get pointers into the request. */
static bool open_rules(const struct bs_call *call, struct bs_decoder *decoder,
                       const struct bs_texts *texts, struct bs_json_writer *out,
                       enum bs_answer *answer) {
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    bs_refuse_nul(decoder);
    int code = bs_decoder_failed(decoder) ? BS_E_INVALID
                                          : bs_policies_load(call->policies, texts, &report, &err);
    for (size_t i = 0; i < report.n_problems && code == BS_E_INVALID; i++) {
        char at[BS_POINTER_MOST];
        bs_problem(decoder, bs_rules_pointer(report.problems[i].pointer, at), "%.400s",
                   report.problems[i].message);
    }
    if (code == BS_E_INVALID)
        *answer = bs_answer_problems(out, call->id, decoder);
    else if (code != BS_OK)
        *answer = bs_answer_error(out, call->id, code, err.message);
    bs_policy_report_clear(&report);
    return code == BS_OK;
}

static void put_compiled(struct bs_json_writer *out, const struct bs_sbpl *sbpl) {
    bs_json_open_object(out);
    bs_json_put_key(out, "text");
    bs_json_put_string(out, sbpl->text.data, sbpl->text.len);
    bs_json_put_key(out, "unguarded");
    bs_json_open_array(out);
    for (size_t i = 0; i < sbpl->n_unguarded; i++)
        bs_json_put_string(out, sbpl->unguarded[i]->rule, sbpl->unguarded[i]->rule_len);
    bs_json_close_array(out);
    bs_json_close_object(out);
}

enum bs_answer bs_op_sbpl_compile(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {
        "id",  "op",      "rules",      "policy",         "profile",  "root", "root_b64",
        "env", "env_b64", "side_roots", "side_roots_b64", "provider", "case", NULL};
    struct bs_decoder decoder = {0};
    struct source source;
    struct bs_sbpl_input input;
    struct bs_sbpl sbpl = BS_SBPL_INIT;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
    decode_source(&decoder, call->request, &source);
    bs_decode_input(&decoder, call->request, &input);
    bool fold = bs_decode_fold(&decoder, call->request);
    if (!(source.rules ? open_rules : bs_open_policy)(call, &decoder, &source.texts, out,
                                                      &answer) ||
        !bs_open_profile(call, &decoder, source.profile, fold, &input.profile, out, &answer))
        goto finish;
    int code = bs_sbpl_compile(&input, &sbpl, &err);
    if (code != BS_OK) {
        answer = bs_answer_error(out, call->id, code, err.message);
        goto finish;
    }
    bs_answer_open(out, call->id, "result");
    put_compiled(out, &sbpl);
    bs_answer_close(out);
finish:
    bs_sbpl_clear(&sbpl);
    bs_decoder_clear(&decoder);
    return answer;
}
