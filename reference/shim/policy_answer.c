#include "shim/policy_answer.h"

#include <string.h>

static void put_text(struct bs_buf *out, const char *text) {
    bs_json_put_string(out, text, strlen(text));
}

static const char *file_of(enum bs_policy_source source) {
    return source == BS_FROM_WORKSPACE ? "\"workspace\"" : "\"global\"";
}

static void put_problem(struct bs_buf *out, const struct bs_policy_problem *problem) {
    bs_buf_str(out, "{\"pointer\":");
    put_text(out, problem->pointer);
    if (problem->code != NULL) {
        bs_buf_str(out, ",\"code\":");
        put_text(out, problem->code);
    }
    bs_buf_str(out, ",\"line\":");
    bs_buf_u64(out, problem->line);
    bs_buf_str(out, ",\"column\":");
    bs_buf_u64(out, problem->column);
    bs_buf_str(out, ",\"file\":");
    bs_buf_str(out, file_of(problem->source));
    bs_buf_str(out, ",\"message\":");
    put_text(out, problem->message);
    bs_buf_char(out, '}');
}

static void put_problems(struct bs_buf *out, const struct bs_policy_problem *problems, size_t n) {
    bs_buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            bs_buf_char(out, ',');
        put_problem(out, &problems[i]);
    }
    bs_buf_char(out, ']');
}

enum bs_answer bs_answer_loaded(struct bs_buf *out, const cJSON *id, const struct bs_policy *policy,
                                const struct bs_policy_report *report) {
    const char *description = bs_policy_description(policy);
    bs_answer_open(out, id, "result");
    bs_buf_str(out, "{\"name\":");
    put_text(out, bs_policy_name(policy));
    if (description != NULL) {
        bs_buf_str(out, ",\"description\":");
        put_text(out, description);
    }
    bs_buf_str(out, ",\"warnings\":");
    put_problems(out, report->warnings, report->n_warnings);
    bs_buf_char(out, '}');
    bs_answer_close(out);
    return BS_ANSWERED;
}

enum bs_answer bs_answer_unloaded(struct bs_buf *out, const cJSON *id, int code,
                                  const struct bs_error *err,
                                  const struct bs_policy_report *report) {
    bs_answer_open(out, id, "error");
    bs_put_error(out, bs_error_kind(code), err->message, strlen(err->message));
    if (code == BS_E_INVALID && !out->failed) {
        out->len--; /* the error's closing brace */
        bs_buf_str(out, ",\"problems\":");
        put_problems(out, report->problems, report->n_problems);
        bs_buf_char(out, '}');
    }
    bs_answer_close(out);
    return code == BS_E_INVALID ? BS_INVALID_INPUT : BS_ANSWERED;
}

static void put_entry(struct bs_buf *out, const struct bs_entry *entry) {
    if (entry->origin == BS_ENTRY_EXCEPTION) {
        bs_buf_str(out, "{\"except\":");
        bs_json_put_string(out, entry->rule, entry->rule_len);
        bs_buf_char(out, '}');
        return;
    }
    size_t start = out->len;
    if (entry->negated)
        bs_buf_char(out, '!');
    bs_json_put_string(out, entry->rule, entry->rule_len);
    /* The `!` belongs inside the quotes. */
    if (entry->negated && !out->failed) {
        out->data[start] = '"';
        out->data[start + 1] = '!';
    }
}

static void put_list(struct bs_buf *out, const struct bs_profile *profile, enum bs_op op) {
    size_t n = 0;
    const struct bs_entry *entries = bs_profile_entries(profile, op, &n);
    bs_buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            bs_buf_char(out, ',');
        put_entry(out, &entries[i]);
    }
    bs_buf_char(out, ']');
}

void bs_put_resolved_lists(struct bs_buf *out, const struct bs_profile *profile) {
    bs_buf_str(out, "{\"profile\":");
    put_text(out, bs_profile_name(profile));
    bs_buf_str(out, ",\"profile_origin\":");
    bs_buf_str(out, bs_profile_is_synthesized(profile) ? "\"synthesized\"" : "\"defined\"");
    bs_buf_str(out, ",\"read\":");
    put_list(out, profile, BS_OP_READ);
    bs_buf_str(out, ",\"modify\":");
    put_list(out, profile, BS_OP_MODIFY);
    bs_buf_char(out, '}');
}

void bs_put_decision(struct bs_buf *out, const struct bs_decision *decision) {
    if (decision->allowed)
        bs_buf_str(out, "{\"allowed\":true,\"path\":");
    else
        bs_buf_str(out, "{\"allowed\":false,\"path\":");
    bs_json_put_string(out, decision->path, decision->path_len);
    bs_buf_str(out, ",\"matched_rule\":");
    bs_json_put_string(out, decision->matched_rule, decision->matched_rule_len);
}

static const char *origin_of(const struct bs_entry *entry) {
    static const char *const names[] = {[BS_ENTRY_PROFILE] = "profile",
                                        [BS_ENTRY_DENY_READ] = "denyRead",
                                        [BS_ENTRY_DENY_MODIFY] = "denyModify",
                                        [BS_ENTRY_EXCEPTION] = "exception"};
    return names[entry->origin];
}

static void put_explained(struct bs_buf *out, const struct bs_explained *explained) {
    const struct bs_entry *entry = explained->entry;
    bs_buf_str(out, "{\"rule\":");
    put_entry(out, entry);
    bs_buf_str(out, ",\"origin\":");
    put_text(out, origin_of(entry));
    if (entry->source == BS_SYNTHESIZED) {
        bs_buf_str(out, ",\"file\":null,\"line\":null");
    } else {
        bs_buf_str(out, ",\"file\":");
        bs_buf_str(out, file_of(entry->source));
        bs_buf_str(out, ",\"line\":");
        bs_buf_u64(out, entry->line);
    }
    bs_buf_str(out, explained->matched ? ",\"matched\":true" : ",\"matched\":false");
    bs_buf_str(out, explained->deciding ? ",\"deciding\":true}" : ",\"deciding\":false}");
}

void bs_put_explanation(struct bs_buf *out, const struct bs_explanation *explanation) {
    bs_put_decision(out, &explanation->decision);
    bs_buf_str(out, ",\"entries\":[");
    for (size_t i = 0; i < explanation->n_entries; i++) {
        if (i > 0)
            bs_buf_char(out, ',');
        put_explained(out, &explanation->entries[i]);
    }
    bs_buf_str(out, "]}");
}
