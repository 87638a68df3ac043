#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/policy.h"

/* The data that each question needs: a policy, one of its profiles and the operation. */
struct question {
    struct bs_policy *policy;
    struct bs_profile *profile;
    enum bs_op op;
    const struct bs_cli_options *options;
    char *root; /* absolute; NULL if paths are checked without the file system */
};

static void clear(struct question *question) {
    bs_profile_free(question->profile);
    bs_policy_free(question->policy);
    free(question->root);
}

static int open_question(const struct bs_cli_options *options, struct question *question) {
    struct bs_error err = BS_ERROR_INIT;
    *question = (struct question){.options = options};
    if (options->argc < 3)
        return bs_cli_wrong("write POLICY read|modify PATH; see boxspec-ref policy --help");
    if (strcmp(options->argv[1], "modify") == 0)
        question->op = BS_OP_MODIFY;
    else if (strcmp(options->argv[1], "read") != 0)
        return bs_cli_wrong("%s: the operation must be read or modify", options->argv[1]);
    int status =
        bs_cli_load_policy(options, options->argv[0], options->workspace, false, &question->policy);
    if (status != 0)
        return status;
    int code = bs_profile_compile(question->policy, options->profile, options->fold ? BS_FOLD : 0,
                                  &question->profile, &err);
    return code == BS_OK ? 0 : bs_cli_failed(code, &err);
}

static const char *op_name(enum bs_op op) { return op == BS_OP_MODIFY ? "modify" : "read"; }

static void put_decision(const struct question *question, const struct bs_decision *decision) {
    (void)printf("%s %s ", decision->allowed ? "allowed" : "denied ", op_name(question->op));
    bs_cli_put_text(stdout, decision->path, decision->path_len);
    (void)fputs("  by ", stdout);
    bs_cli_put_text(stdout, decision->matched_rule, decision->matched_rule_len);
}

static int put_audit(const struct question *question, const struct bs_decision *decision) {
    struct bs_bytes event = BS_BYTES_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int code = bs_audit_event(question->profile, question->op, decision, now, &event, &err);
    if (code != BS_OK)
        return bs_cli_failed(code, &err);
    (void)puts(event.data);
    bs_bytes_clear(&event);
    return 0;
}

static int put_answer(const struct question *question, const struct bs_decision *decision,
                      const char *real) {
    int status = decision->allowed ? 0 : BS_CLI_DENIED;
    if (question->options->audit) {
        int failed = put_audit(question, decision);
        return failed != 0 ? failed : status;
    }
    put_decision(question, decision);
    if (real != NULL && (strlen(real) != decision->path_len ||
                         memcmp(real, decision->path, decision->path_len) != 0)) {
        (void)fputs("  really ", stdout);
        bs_cli_put_text(stdout, real, strlen(real));
    }
    (void)fputc('\n', stdout);
    return status;
}

static int ask(const struct question *question, const char *path) {
    struct bs_decision decision;
    struct bs_error err = BS_ERROR_INIT;
    int code =
        bs_profile_check(question->profile, question->op, path, strlen(path), &decision, &err);
    if (code != BS_OK)
        return bs_cli_wrong("%s: %s", path, err.message);
    int status = put_answer(question, &decision, NULL);
    bs_decision_clear(&decision);
    return status;
}

static int ask_resolved(const struct question *question, const char *path) {
    struct bs_resolved resolved;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_check_resolved(
        question->profile, question->root, question->op, path, strlen(path),
        question->options->parent ? BS_FOLLOW_PARENT : BS_FOLLOW_FINAL, &resolved, &err);
    if (code != BS_OK) {
        (void)bs_cli_wrong("%s: %s", path, err.message);
        return code == BS_E_INVALID ? 2 : BS_CLI_ELSEWHERE;
    }
    int status = put_answer(question, &resolved.decision, resolved.real);
    bs_resolved_clear(&resolved);
    return status;
}

/* Return the exit status that has precedence; for example, an error has precedence over a
 * denial. */
static int worse(int a, int b) {
    static const int order[] = {0, BS_CLI_DENIED, 2, BS_CLI_ELSEWHERE};
    size_t at = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (a == order[i] || b == order[i])
            at = i;
    }
    return order[at];
}

int bs_cli_policy_check(const struct bs_cli_options *options) {
    struct question question;
    int status = open_question(options, &question);
    if (status == 0 && options->root != NULL) {
        question.root = realpath(options->root, NULL);
        if (question.root == NULL)
            status = bs_cli_wrong("--root %s: no such folder", options->root);
    }
    for (int i = 2; i < options->argc && (status == 0 || status == BS_CLI_DENIED); i++)
        status = worse(status, options->root != NULL ? ask_resolved(&question, options->argv[i])
                                                     : ask(&question, options->argv[i]));
    clear(&question);
    return status;
}

static void put_place(const struct question *question, const struct bs_entry *entry) {
    char place[32];
    const char *file = entry->source == BS_FROM_WORKSPACE ? question->options->workspace
                                                          : question->options->argv[0];
    if (entry->source == BS_SYNTHESIZED) {
        (void)printf("%-24s", "in no file");
        return;
    }
    (void)snprintf(place, sizeof place, ":%u", entry->line);
    int width = 24 - (int)strlen(place);
    int used = (int)strlen(file);
    (void)printf("%s%s%*s", file, place, used < width ? width - used : 0, "");
}

static void put_rule(const struct bs_entry *entry) {
    if (entry->negated)
        (void)fputc('!', stdout);
    bs_cli_put_text(stdout, entry->rule, entry->rule_len);
}

static void put_explanation(const struct question *question,
                            const struct bs_explanation *explanation) {
    put_decision(question, &explanation->decision);
    (void)fputc('\n', stdout);
    for (size_t i = 0; i < explanation->n_entries; i++) {
        const struct bs_explained *explained = &explanation->entries[i];
        const char *mark = explained->matched ? "matches" : "";
        (void)printf("  %-8s %-11s ", explained->deciding ? "decides" : mark,
                     bs_entry_origin_name(explained->entry->origin));
        put_place(question, explained->entry);
        (void)fputc(' ', stdout);
        put_rule(explained->entry);
        (void)fputc('\n', stdout);
    }
}

int bs_cli_policy_explain(const struct bs_cli_options *options) {
    struct question question;
    struct bs_error err = BS_ERROR_INIT;
    int status = open_question(options, &question);
    for (int i = 2; i < options->argc && (status == 0 || status == BS_CLI_DENIED); i++) {
        struct bs_explanation explanation;
        const char *path = options->argv[i];
        int code = bs_profile_explain(question.profile, question.op, path, strlen(path),
                                      &explanation, &err);
        if (code != BS_OK) {
            status = bs_cli_wrong("%s: %s", path, err.message);
            break;
        }
        put_explanation(&question, &explanation);
        status = worse(status, explanation.decision.allowed ? 0 : BS_CLI_DENIED);
        bs_explanation_clear(&explanation);
    }
    clear(&question);
    return status;
}

/* Print an entry as it is written in the policy file: a deny has no `!`, an exception has one. */
static void put_as_written(const struct bs_entry *entry) {
    bool exception = entry->origin == BS_ENTRY_EXCEPTION;
    const char *list = exception ? "denyModify" : bs_entry_origin_name(entry->origin);
    bool mark = exception || (entry->origin == BS_ENTRY_PROFILE && entry->negated);
    (void)printf(" %s %s", list, mark ? "!" : "");
    bs_cli_put_text(stdout, entry->rule, entry->rule_len);
}

static void put_change(const struct question *question, const struct bs_change *change,
                       const struct bs_bytes *rule) {
    if (change->kind == BS_REMOVE_ENTRY) {
        (void)fputs("remove from ", stdout);
        put_place(question, change->entry);
        put_as_written(change->entry);
        return;
    }
    bool exception = change->kind == BS_ADD_EXCEPTION;
    if (exception)
        (void)printf("add to    %s denyModify, at its end: !",
                     change->source == BS_FROM_WORKSPACE ? "the workspace's" : "the global");
    else
        (void)printf("add to    profile %s, %s, at its end: ", bs_profile_name(question->profile),
                     op_name(change->op));
    bs_cli_put_text(stdout, rule->data, rule->len);
}

static void put_remedies(const struct question *question, const struct bs_why_not *why_not) {
    put_decision(question, &why_not->decision);
    (void)fputc('\n', stdout);
    if (why_not->n_remedies == 0 && !why_not->decision.allowed)
        (void)printf("  no change of up to %d entries would allow it\n", BS_MOST_CHANGES);
    for (size_t i = 0; i < why_not->n_remedies; i++) {
        const struct bs_remedy *remedy = &why_not->remedies[i];
        (void)puts(i == 0 ? "it would be allowed by" : "or by");
        for (size_t j = 0; j < remedy->n_changes; j++) {
            (void)fputs("  ", stdout);
            put_change(question, &remedy->changes[j], &why_not->rule);
            (void)fputc('\n', stdout);
        }
    }
}

int bs_cli_policy_why_not(const struct bs_cli_options *options) {
    struct question question;
    struct bs_why_not why_not;
    struct bs_error err = BS_ERROR_INIT;
    int status = open_question(options, &question);
    for (int i = 2; i < options->argc && (status == 0 || status == BS_CLI_DENIED); i++) {
        const char *path = options->argv[i];
        int code =
            bs_profile_why_not(question.profile, question.op, path, strlen(path), &why_not, &err);
        if (code != BS_OK) {
            status = bs_cli_wrong("%s: %s", path, err.message);
            break;
        }
        put_remedies(&question, &why_not);
        status = worse(status, why_not.decision.allowed ? 0 : BS_CLI_DENIED);
        bs_why_not_clear(&why_not);
    }
    clear(&question);
    return status;
}
