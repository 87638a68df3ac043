#include "shim/backend_answer.h"

#include <string.h>

static void put_text(struct bs_buf *out, const char *text) {
    struct bs_buf copy = BS_BUF_INIT;
    bs_buf_add(&copy, text, strlen(text));
    struct bs_bytes bytes = bs_buf_take(&copy);
    if (bs_bytes_to_text(&bytes) != BS_OK || (text[0] != '\0' && bytes.data == NULL))
        out->failed = true;
    else
        bs_json_put_string(out, bytes.data != NULL ? bytes.data : "", bytes.len);
    bs_bytes_clear(&bytes);
}

void bs_put_bytes(struct bs_buf *out, const char *text) {
    bs_json_put_base64(out, text, strlen(text));
}

void bs_put_texts(struct bs_buf *out, const char *const *texts, size_t n) {
    bs_buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            bs_buf_char(out, ',');
        put_text(out, texts[i]);
    }
    bs_buf_char(out, ']');
}

void bs_put_unenforced(struct bs_buf *out, const struct bs_backend_report *report) {
    bs_buf_char(out, '[');
    for (size_t i = 0; i < report->n_unenforced; i++) {
        const struct bs_unenforced *rule = &report->unenforced[i];
        bs_buf_str(out, i > 0 ? ",{" : "{");
        if (rule->pointer != NULL) {
            bs_buf_str(out, "\"pointer\":");
            put_text(out, rule->pointer);
            bs_buf_char(out, ',');
        }
        bs_buf_str(out, "\"rule\":");
        put_text(out, rule->rule);
        bs_buf_str(out, ",\"why\":");
        put_text(out, rule->why);
        bs_buf_char(out, '}');
    }
    bs_buf_char(out, ']');
}

/* An aspect that only some backends know is left away by the others. */
static bool is_named(const struct bs_backend_report *report, int aspect) {
    return aspect != BS_ASPECT_KERNEL || report->aspects[aspect].claim != BS_NOT_REQUESTED;
}

void bs_put_claims(struct bs_buf *out, const struct bs_backend_report *report) {
    bs_buf_str(out, "{\"overall\":\"");
    bs_buf_str(out, bs_claim_name(report->overall));
    bs_buf_str(out, "\",\"aspects\":{");
    for (int i = 0; i < BS_ASPECTS; i++) {
        const struct bs_aspect_claim *claim = &report->aspects[i];
        if (!is_named(report, i))
            continue;
        bs_buf_str(out, i > 0 ? ",\"" : "\"");
        bs_buf_str(out, bs_aspect_name((enum bs_aspect)i));
        bs_buf_str(out, "\":{\"claim\":\"");
        bs_buf_str(out, bs_claim_name(claim->claim));
        bs_buf_str(out, "\",\"reasons\":");
        bs_put_texts(out, claim->reasons, claim->n_reasons);
        bs_buf_char(out, '}');
    }
    bs_buf_str(out, "},\"not_enforced\":");
    bs_put_unenforced(out, report);
    bs_buf_char(out, '}');
}

static void put_reason(struct bs_buf *out, bool *any, const char *text) {
    if (*any)
        bs_buf_char(out, ',');
    put_text(out, text);
    *any = true;
}

/* "`RULE`: why". */
static void put_rule(struct bs_buf *out, bool *any, const struct bs_unenforced *rule) {
    struct bs_buf text = BS_BUF_INIT;
    bs_buf_char(&text, '`');
    bs_buf_str(&text, rule->rule);
    bs_buf_str(&text, "`: ");
    bs_buf_str(&text, rule->why);
    bs_buf_char(&text, '\0');
    if (text.failed)
        out->failed = true;
    else
        put_reason(out, any, text.data);
    bs_buf_clear(&text);
}

void bs_put_reasons(struct bs_buf *out, const struct bs_backend_context *context,
                    const struct bs_backend_report *report) {
    bool any = false;
    bs_buf_char(out, '[');
    for (int i = 0; i < BS_ASPECTS; i++) {
        const struct bs_aspect_claim *claim = &report->aspects[i];
        if (!bs_context_requests(context, (enum bs_aspect)i, true))
            continue;
        for (size_t j = 0; claim->claim != BS_NOT_REQUESTED && j < claim->n_reasons; j++)
            put_reason(out, &any, claim->reasons[j]);
    }
    /* A probe that failed has no claims: why there is no sandbox is a warning. */
    bool failed = !any;
    for (size_t i = 0; failed && i < report->n_warnings; i++)
        put_reason(out, &any, report->warnings[i]);
    for (size_t i = 0; i < report->n_unenforced; i++)
        put_rule(out, &any, &report->unenforced[i]);
    bs_buf_char(out, ']');
}

const char *bs_enforcement_name(enum bs_claim claim) {
    return claim == BS_CLAIM_FULLY ? "fully" : claim == BS_CLAIM_PARTIAL ? "partial" : "none";
}

void bs_put_enforcement(struct bs_buf *out, enum bs_claim claim, const struct bs_buf *reasons) {
    if (out->failed || out->len == 0)
        return;
    out->len--; /* the brace */
    bs_buf_str(out, ",\"enforcement\":\"");
    bs_buf_str(out, bs_enforcement_name(claim));
    bs_buf_char(out, '"');
    if (reasons != NULL) {
        bs_buf_str(out, ",\"enforcement_reasons\":");
        bs_buf_add(out, reasons->data, reasons->len);
    }
    bs_buf_char(out, '}');
}
