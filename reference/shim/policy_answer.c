#include "shim/policy_answer.h"

static const char *file_of(enum bs_policy_source source) {
    return source == BS_FROM_WORKSPACE ? "workspace" : "global";
}

static void put_problem(struct bs_json_writer *out, const struct bs_policy_problem *problem) {
    bs_json_open_object(out);
    bs_json_put_key(out, "pointer");
    bs_json_put_text(out, problem->pointer);
    if (problem->code != NULL) {
        bs_json_put_key(out, "code");
        bs_json_put_text(out, problem->code);
    }
    bs_json_put_key(out, "line");
    bs_json_put_u64(out, problem->line);
    bs_json_put_key(out, "column");
    bs_json_put_u64(out, problem->column);
    bs_json_put_key(out, "file");
    bs_json_put_text(out, file_of(problem->source));
    bs_json_put_key(out, "message");
    bs_json_put_text(out, problem->message);
    bs_json_close_object(out);
}

static void put_problems(struct bs_json_writer *out, const char *key,
                         const struct bs_policy_problem *problems, size_t n) {
    bs_json_put_key(out, key);
    bs_json_open_array(out);
    for (size_t i = 0; i < n; i++)
        put_problem(out, &problems[i]);
    bs_json_close_array(out);
}

enum bs_answer bs_answer_loaded(struct bs_json_writer *out, const cJSON *id,
                                const struct bs_policy *policy,
                                const struct bs_policy_report *report) {
    const char *description = bs_policy_description(policy);
    bs_answer_open(out, id, "result");
    bs_json_open_object(out);
    bs_json_put_key(out, "name");
    bs_json_put_text(out, bs_policy_name(policy));
    if (description != NULL) {
        bs_json_put_key(out, "description");
        bs_json_put_text(out, description);
    }
    put_problems(out, "warnings", report->warnings, report->n_warnings);
    bs_json_close_object(out);
    bs_answer_close(out);
    return BS_ANSWERED;
}

enum bs_answer bs_answer_unloaded(struct bs_json_writer *out, const cJSON *id, int code,
                                  const struct bs_error *err,
                                  const struct bs_policy_report *report) {
    bs_answer_open(out, id, "error");
    bs_json_open_object(out);
    bs_put_message(out, code, err->message);
    if (code == BS_E_INVALID)
        put_problems(out, "problems", report->problems, report->n_problems);
    bs_json_close_object(out);
    bs_answer_close(out);
    return code == BS_E_INVALID ? BS_INVALID_INPUT : BS_ANSWERED;
}

/* Write "RULE", "!RULE" or, for an exception, {"except": "RULE"}. */
static void put_entry(struct bs_json_writer *out, const struct bs_entry *entry) {
    bool is_exception = entry->origin == BS_ENTRY_EXCEPTION;
    if (is_exception) {
        bs_json_open_object(out);
        bs_json_put_key(out, "except");
    }
    bs_json_open_string(out);
    if (!is_exception && entry->negated)
        bs_json_add_text(out, "!", 1);
    bs_json_add_text(out, entry->rule, entry->rule_len);
    bs_json_close_string(out);
    if (is_exception)
        bs_json_close_object(out);
}

static void put_list(struct bs_json_writer *out, const char *key, const struct bs_profile *profile,
                     enum bs_op op) {
    size_t n = 0;
    const struct bs_entry *entries = bs_profile_entries(profile, op, &n);
    bs_json_put_key(out, key);
    bs_json_open_array(out);
    for (size_t i = 0; i < n; i++)
        put_entry(out, &entries[i]);
    bs_json_close_array(out);
}

void bs_put_resolved_lists(struct bs_json_writer *out, const struct bs_profile *profile) {
    bs_json_open_object(out);
    bs_json_put_key(out, "profile");
    bs_json_put_text(out, bs_profile_name(profile));
    bs_json_put_key(out, "profile_origin");
    bs_json_put_text(out, bs_profile_is_synthesized(profile) ? "synthesized" : "defined");
    put_list(out, "read", profile, BS_OP_READ);
    put_list(out, "modify", profile, BS_OP_MODIFY);
    bs_json_close_object(out);
}

void bs_put_decision(struct bs_json_writer *out, const struct bs_decision *decision) {
    bs_json_put_key(out, "allowed");
    bs_json_put_bool(out, decision->allowed);
    bs_json_put_key(out, "path");
    bs_json_put_string(out, decision->path, decision->path_len);
    bs_json_put_key(out, "matched_rule");
    bs_json_put_string(out, decision->matched_rule, decision->matched_rule_len);
}

static void put_explained(struct bs_json_writer *out, const struct bs_explained *explained) {
    const struct bs_entry *entry = explained->entry;
    bool is_in_file = entry->source != BS_SYNTHESIZED;
    bs_json_open_object(out);
    bs_json_put_key(out, "rule");
    put_entry(out, entry);
    bs_json_put_key(out, "origin");
    bs_json_put_text(out, bs_entry_origin_name(entry->origin));
    bs_json_put_key(out, "file");
    if (is_in_file)
        bs_json_put_text(out, file_of(entry->source));
    else
        bs_json_put_null(out);
    bs_json_put_key(out, "line");
    if (is_in_file)
        bs_json_put_u64(out, entry->line);
    else
        bs_json_put_null(out);
    bs_json_put_key(out, "matched");
    bs_json_put_bool(out, explained->matched);
    bs_json_put_key(out, "deciding");
    bs_json_put_bool(out, explained->deciding);
    bs_json_close_object(out);
}

void bs_put_explanation(struct bs_json_writer *out, const struct bs_explanation *explanation) {
    bs_json_open_object(out);
    bs_put_decision(out, &explanation->decision);
    bs_json_put_key(out, "entries");
    bs_json_open_array(out);
    for (size_t i = 0; i < explanation->n_entries; i++)
        put_explained(out, &explanation->entries[i]);
    bs_json_close_array(out);
    bs_json_close_object(out);
}
