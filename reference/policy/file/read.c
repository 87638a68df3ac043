#include "policy/file/read.h"

#include "base/error.h"
#include "policy/file/parse.h"

static int read_tree(const struct bs_policy_text *text, struct bs_document *document,
                     struct bs_flaw *flaw) {
    if (text->len > BS_POLICY_MOST_BYTES) {
        flaw->line = flaw->column = 1;
        flaw->message = "a policy file has at most 4 MiB (4194304 bytes)";
        return BS_E_INVALID;
    }
    return text->format == BS_POLICY_YAML
               ? bs_policy_read_yaml(text->data, text->len, document, flaw)
               : bs_policy_read_json(text->data, text->len, document, flaw);
}

bool bs_policy_read(const struct bs_policy_text *text, struct bs_document *document,
                    struct bs_problems *problems) {
    struct bs_flaw flaw;
    int code = read_tree(text, document, &flaw);
    struct bs_place place = {flaw.line, flaw.column};
    if (code == BS_E_INVALID && flaw.message == flaw.words)
        bs_problems_addf(problems, place, NULL, "%s", flaw.words);
    else if (code == BS_E_INVALID)
        bs_problems_add(problems, place, NULL, NULL, flaw.message);
    return code != BS_E_EXECUTION && !problems->failed;
}

int bs_policy_fail_with_first(const struct bs_policy_report *report, struct bs_error *err) {
    const struct bs_policy_problem *first = &report->problems[0];
    return bs_fail(err, BS_E_INVALID, 0, "%s policy, line %u, column %u%s%s: %s",
                   first->source == BS_FROM_GLOBAL ? "global" : "workspace", first->line,
                   first->column, first->pointer[0] != '\0' ? ", " : "", first->pointer,
                   first->message);
}
