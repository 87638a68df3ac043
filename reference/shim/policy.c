#define _GNU_SOURCE
#include <string.h>

#include "shim/ops.h"
#include "shim/policies.h"
#include "shim/policy_answer.h"

enum bs_answer bs_op_policy_load(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id",     "op",        "text", "text_b64",
                                        "format", "workspace", NULL};
    struct bs_decoder decoder = {0};
    struct bs_texts texts;
    struct bs_policy *policy = NULL;
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    enum bs_answer answer = BS_ANSWERED;
    bs_decode_texts(&decoder, call->request, "", known, &texts);
    if (bs_decoder_failed(&decoder)) {
        answer = bs_answer_problems(out, call->id, &decoder);
        goto finish;
    }
    int code = bs_policy_load(&texts.global, texts.has_workspace ? &texts.workspace : NULL, &policy,
                              &report, &err);
    answer = code == BS_OK ? bs_answer_loaded(out, call->id, policy, &report)
                           : bs_answer_unloaded(out, call->id, code, &err, &report);
finish:
    bs_policy_free(policy);
    bs_policy_report_clear(&report);
    bs_decoder_clear(&decoder);
    return answer;
}

enum bs_answer bs_op_policy_resolve(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const known[] = {"id", "op", "policy", "profile", NULL};
    struct bs_decoder decoder = {0};
    struct bs_texts texts;
    const struct bs_profile *profile = NULL;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", known);
    bs_decode_policy(&decoder, call->request, &texts);
    const char *name = bs_decode_text(&decoder, call->request, "", "profile", false);
    if (bs_open_policy(call, &decoder, &texts, out, &answer) &&
        bs_open_profile(call, &decoder, name, false, &profile, out, &answer)) {
        bs_answer_open(out, call->id, "result");
        bs_put_resolved_lists(out, profile);
        bs_answer_close(out);
    }
    bs_decoder_clear(&decoder);
    return answer;
}

/* An operation that makes many checks with one policy. Such operations differ only in the answer to
 * a check. */
struct batch {
    const char *list;         /* name of the member with the answers */
    const char *const *known; /* all members that a request may have */
    bool follows;             /* a check may have the member `follow` */
    /* Writes the answer to one check. If it fails, it writes nothing and returns a negative code
     * with *err filled. */
    int (*answer)(const struct bs_profile *profile, const struct bs_check *check, const char *root,
                  struct bs_json_writer *out, struct bs_error *err);
};

static void put_answers(const struct bs_call *call, const struct batch *batch,
                        const struct bs_checks *checks, bool fold, const char *root,
                        struct bs_json_writer *out) {
    struct bs_error err = BS_ERROR_INIT;
    bs_json_open_object(out);
    bs_json_put_key(out, batch->list);
    bs_json_open_array(out);
    for (size_t i = 0; i < checks->n; i++) {
        const struct bs_check *check = &checks->items[i];
        const struct bs_profile *profile = NULL;
        int code = bs_policies_profile(call->policies, check->profile, fold, &profile, &err);
        if (code == BS_OK)
            code = batch->answer(profile, check, root, out, &err);
        if (code != BS_OK) {
            bs_json_open_object(out);
            bs_put_error(out, code, err.message);
            bs_json_close_object(out);
        }
    }
    bs_json_close_array(out);
    bs_json_close_object(out);
}

static const char *decode_root(struct bs_decoder *decoder, const cJSON *request) {
    const char *root = bs_decode_text(decoder, request, "", "root", true);
    if (root != NULL && decoder->nul_in[0] == '\0' && root[0] != '/')
        bs_problem(decoder, "/root", "must be an absolute path");
    return root;
}

static enum bs_answer answer_batch(const struct bs_call *call, const struct batch *batch,
                                   struct bs_json_writer *out) {
    struct bs_decoder decoder = {0};
    struct bs_texts texts;
    struct bs_checks checks;
    enum bs_answer answer = BS_ANSWERED;
    bs_refuse_unknown(&decoder, call->request, "", batch->known);
    bs_decode_policy(&decoder, call->request, &texts);
    bs_decode_checks(&decoder, call->request, batch->follows, &checks);
    bool fold = bs_decode_fold(&decoder, call->request);
    const char *root = batch->follows ? decode_root(&decoder, call->request) : NULL;
    if (bs_open_policy(call, &decoder, &texts, out, &answer)) {
        bs_answer_open(out, call->id, "result");
        put_answers(call, batch, &checks, fold, root, out);
        bs_answer_close(out);
    }
    bs_decoder_clear(&decoder);
    return answer;
}

static const char *const known[] = {"id", "op", "policy", "checks", "case", NULL};

static int check(const struct bs_profile *profile, const struct bs_check *wanted, const char *root,
                 struct bs_json_writer *out, struct bs_error *err) {
    struct bs_decision decision;
    (void)root;
    int code = bs_profile_check(profile, wanted->op, wanted->path, wanted->len, &decision, err);
    if (code != BS_OK)
        return code;
    bs_json_open_object(out);
    bs_put_decision(out, &decision);
    bs_json_close_object(out);
    bs_decision_clear(&decision);
    return BS_OK;
}

enum bs_answer bs_op_policy_check(const struct bs_call *call, struct bs_json_writer *out) {
    static const struct batch batch = {"checks", known, false, check};
    return answer_batch(call, &batch, out);
}

static int check_resolved(const struct bs_profile *profile, const struct bs_check *wanted,
                          const char *root, struct bs_json_writer *out, struct bs_error *err) {
    struct bs_resolved resolved;
    int code = bs_check_resolved(profile, root, wanted->op, wanted->path, wanted->len,
                                 wanted->follow, &resolved, err);
    if (code != BS_OK)
        return code;
    bs_json_open_object(out);
    bs_put_decision(out, &resolved.decision);
    bs_json_put_key(out, "real");
    if (resolved.real != NULL)
        bs_json_put_string(out, resolved.real, resolved.real_len);
    else
        bs_json_put_null(out);
    bs_json_close_object(out);
    bs_resolved_clear(&resolved);
    return BS_OK;
}

enum bs_answer bs_op_policy_check_resolved(const struct bs_call *call, struct bs_json_writer *out) {
    static const char *const with_root[] = {"id",   "op",       "policy", "checks",
                                            "root", "root_b64", "case",   NULL};
    static const struct batch batch = {"checks", with_root, true, check_resolved};
    return answer_batch(call, &batch, out);
}

static int explain(const struct bs_profile *profile, const struct bs_check *wanted,
                   const char *root, struct bs_json_writer *out, struct bs_error *err) {
    struct bs_explanation explanation;
    (void)root;
    int code =
        bs_profile_explain(profile, wanted->op, wanted->path, wanted->len, &explanation, err);
    if (code != BS_OK)
        return code;
    bs_put_explanation(out, &explanation);
    bs_explanation_clear(&explanation);
    return BS_OK;
}

enum bs_answer bs_op_policy_explain(const struct bs_call *call, struct bs_json_writer *out) {
    static const struct batch batch = {"checks", known, false, explain};
    return answer_batch(call, &batch, out);
}

static int audit(const struct bs_profile *profile, const struct bs_check *wanted, const char *root,
                 struct bs_json_writer *out, struct bs_error *err) {
    struct bs_decision decision;
    struct bs_bytes event = BS_BYTES_INIT;
    struct timespec now;
    (void)root;
    int code = bs_profile_check(profile, wanted->op, wanted->path, wanted->len, &decision, err);
    if (code != BS_OK)
        return code;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    code = bs_audit_event(profile, wanted->op, &decision, now, &event, err);
    if (code == BS_OK)
        bs_json_put_value(out, event.data, event.len);
    bs_bytes_clear(&event);
    bs_decision_clear(&decision);
    return code;
}

enum bs_answer bs_op_policy_audit(const struct bs_call *call, struct bs_json_writer *out) {
    static const struct batch batch = {"events", known, false, audit};
    return answer_batch(call, &batch, out);
}
