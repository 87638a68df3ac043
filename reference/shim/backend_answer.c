#include "shim/backend_answer.h"

#include <string.h>

static void put_lossy(struct bs_json_writer *out, const char *text) {
    bs_json_put_lossy(out, text, strlen(text));
}

void bs_put_bytes(struct bs_json_writer *out, const char *text) {
    bs_json_put_base64(out, text, strlen(text));
}

void bs_put_texts(struct bs_json_writer *out, const char *const *texts, size_t n) {
    bs_json_open_array(out);
    for (size_t i = 0; i < n; i++)
        put_lossy(out, texts[i]);
    bs_json_close_array(out);
}

void bs_put_unenforced(struct bs_json_writer *out, const struct bs_backend_report *report) {
    bs_json_open_array(out);
    for (size_t i = 0; i < report->n_unenforced; i++) {
        const struct bs_unenforced *rule = &report->unenforced[i];
        bs_json_open_object(out);
        if (rule->pointer != NULL) {
            bs_json_put_key(out, "pointer");
            put_lossy(out, rule->pointer);
        }
        bs_json_put_key(out, "rule");
        put_lossy(out, rule->rule);
        bs_json_put_key(out, "why");
        put_lossy(out, rule->why);
        bs_json_close_object(out);
    }
    bs_json_close_array(out);
}

/* True if the report has this aspect. A backend that does not know an aspect leaves it out of its
 * report. */
static bool is_named(const struct bs_backend_report *report, int aspect) {
    return aspect != BS_ASPECT_KERNEL || report->aspects[aspect].claim != BS_NOT_REQUESTED;
}

void bs_put_claims(struct bs_json_writer *out, const struct bs_backend_report *report) {
    bs_json_open_object(out);
    bs_json_put_key(out, "overall");
    bs_json_put_text(out, bs_claim_name(report->overall));
    bs_json_put_key(out, "aspects");
    bs_json_open_object(out);
    for (int i = 0; i < BS_ASPECTS; i++) {
        const struct bs_aspect_claim *claim = &report->aspects[i];
        if (!is_named(report, i))
            continue;
        bs_json_put_key(out, bs_aspect_name((enum bs_aspect)i));
        bs_json_open_object(out);
        bs_json_put_key(out, "claim");
        bs_json_put_text(out, bs_claim_name(claim->claim));
        bs_json_put_key(out, "reasons");
        bs_put_texts(out, claim->reasons, claim->n_reasons);
        bs_json_close_object(out);
    }
    bs_json_close_object(out);
    bs_json_put_key(out, "not_enforced");
    bs_put_unenforced(out, report);
    bs_json_close_object(out);
}

/* Write a string: "`RULE`: why". */
static void put_rule(struct bs_json_writer *out, const struct bs_unenforced *rule) {
    bs_json_open_string(out);
    bs_json_add_text(out, "`", 1);
    bs_json_add_lossy(out, rule->rule, strlen(rule->rule));
    bs_json_add_text(out, "`: ", 3);
    bs_json_add_lossy(out, rule->why, strlen(rule->why));
    bs_json_close_string(out);
}

void bs_put_reasons(struct bs_json_writer *out, const struct bs_backend_context *context,
                    const struct bs_backend_report *report) {
    bool has_claims = false;
    bs_json_open_array(out);
    for (int i = 0; i < BS_ASPECTS; i++) {
        const struct bs_aspect_claim *claim = &report->aspects[i];
        if (!bs_context_requests(context, (enum bs_aspect)i, true))
            continue;
        for (size_t j = 0; claim->claim != BS_NOT_REQUESTED && j < claim->n_reasons; j++) {
            put_lossy(out, claim->reasons[j]);
            has_claims = true;
        }
    }
    /* If the probe failed, the report has no claims. Then the warnings have the reason why there is
     * no sandbox. */
    for (size_t i = 0; !has_claims && i < report->n_warnings; i++)
        put_lossy(out, report->warnings[i]);
    for (size_t i = 0; i < report->n_unenforced; i++)
        put_rule(out, &report->unenforced[i]);
    bs_json_close_array(out);
}

const char *bs_enforcement_name(enum bs_claim claim) {
    return claim == BS_CLAIM_FULLY ? "fully" : claim == BS_CLAIM_PARTIAL ? "partial" : "none";
}

void bs_put_enforcement(struct bs_json_writer *out, enum bs_claim claim,
                        const struct bs_backend_context *context,
                        const struct bs_backend_report *report) {
    bs_json_put_key(out, "enforcement");
    bs_json_put_text(out, bs_enforcement_name(claim));
    if (report != NULL) {
        bs_json_put_key(out, "enforcement_reasons");
        bs_put_reasons(out, context, report);
    }
}
