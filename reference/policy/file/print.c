#include "policy/file/print.h"

#include <string.h>

#include "base/error.h"
#include "policy/path/rule.h"

/* libyaml finds the colon after a key only if the key is at most this long. Longer keys are written
 * after a `?`. */
enum { LONGEST_SIMPLE_KEY = 1000 };

struct printer {
    struct bs_buf *out;
    bool json;
    unsigned depth;
    bool first; /* the innermost container has no element yet */
};

static void put_escape(struct bs_buf *out, unsigned code_point) {
    static const char hex[] = "0123456789abcdef";
    char escape[6] = {'\\', 'u'};
    for (unsigned i = 0; i < 4; i++)
        escape[2 + i] = hex[code_point >> (12 - 4 * i) & 15];
    bs_buf_add(out, escape, sizeof escape);
}

/* If the character at `text` must be escaped, return its code point and set *size; otherwise return
 * 0. YAML refuses more characters than JSON; all of these are escaped in both formats. */
static unsigned to_escape(const unsigned char *text, size_t *size) {
    *size = 1;
    if (text[0] < 0x20 || text[0] == 0x7F || text[0] == '"' || text[0] == '\\')
        return text[0];
    if (text[0] == 0xC2 && text[1] < 0xA0) {
        *size = 2;
        return text[1];
    }
    *size = 3;
    if (text[0] == 0xE2 && text[1] == 0x80 && (text[2] == 0xA8 || text[2] == 0xA9))
        return 0x2000U | (text[2] & 0x3FU);
    if (text[0] == 0xEF && text[1] == 0xBF && text[2] >= 0xBE)
        return 0xFFC0U | (text[2] & 0x3FU);
    return 0;
}

void bs_policy_put_string(struct bs_buf *out, const char *text, size_t len) {
    bs_buf_char(out, '"');
    size_t plain = 0;
    for (size_t i = 0; i < len; i++) {
        size_t size = 0;
        unsigned code_point = to_escape((const unsigned char *)text + i, &size);
        if (code_point == 0)
            continue;
        bs_buf_add(out, text + plain, i - plain);
        if (code_point == '"' || code_point == '\\') {
            char escape[2] = {'\\', (char)code_point};
            bs_buf_add(out, escape, sizeof escape);
        } else {
            put_escape(out, code_point);
        }
        i += size - 1;
        plain = i + 1;
    }
    bs_buf_add(out, text + plain, len - plain);
    bs_buf_char(out, '"');
}

static void new_line(struct printer *p) {
    if (p->json && !p->first)
        bs_buf_char(p->out, ',');
    if (p->json || p->out->len > 0)
        bs_buf_char(p->out, '\n');
    for (unsigned i = 0; i < p->depth; i++)
        bs_buf_str(p->out, "  ");
    p->first = false;
}

static void put_key(struct printer *p, const char *key, bool is_field) {
    new_line(p);
    if (is_field && !p->json) {
        bs_buf_str(p->out, key);
        bs_buf_char(p->out, ':');
        return;
    }
    size_t start = p->out->len;
    bs_policy_put_string(p->out, key, strlen(key));
    if (!p->json && p->out->len - start > LONGEST_SIMPLE_KEY && bs_buf_reserve(p->out, 2)) {
        memmove(p->out->data + start + 2, p->out->data + start, p->out->len - start);
        memcpy(p->out->data + start, "? ", 2);
        p->out->len += 2;
        p->first = true;
        new_line(p);
    }
    bs_buf_char(p->out, ':');
}

static void put_text(struct printer *p, const char *key, bool is_field, const char *text) {
    put_key(p, key, is_field);
    bs_buf_char(p->out, ' ');
    bs_policy_put_string(p->out, text, strlen(text));
}

static void enter(struct printer *p, const char *bracket) {
    if (p->json)
        bs_buf_str(p->out, bracket);
    p->depth++;
    p->first = true;
}

static void leave(struct printer *p, const char *bracket) {
    p->depth--;
    if (p->json) {
        p->first = true; /* prevents a comma before the bracket */
        new_line(p);
        bs_buf_str(p->out, bracket);
    }
    p->first = false;
}

static void put_rules(struct printer *p, const char *key, const struct bs_rules *rules) {
    put_key(p, key, true);
    if (rules->n == 0) {
        bs_buf_str(p->out, " []");
        return;
    }
    struct bs_buf spelling = BS_BUF_INIT;
    enter(p, " [");
    for (size_t i = 0; i < rules->n; i++) {
        const struct bs_rule *rule = &rules->items[i];
        spelling.len = 0;
        bs_rule_put(&spelling, rule->body, rule->len, rule->negated);
        new_line(p);
        if (!p->json)
            bs_buf_str(p->out, "- ");
        if (!spelling.failed)
            bs_policy_put_string(p->out, spelling.data, spelling.len);
    }
    leave(p, "]");
    p->out->failed = p->out->failed || spelling.failed;
    bs_buf_clear(&spelling);
}

static void put_pairs(struct printer *p, const char *key, const struct bs_pairs *pairs) {
    if (pairs->n == 0)
        return;
    put_key(p, key, true);
    enter(p, " {");
    for (size_t i = 0; i < pairs->n; i++)
        put_text(p, pairs->items[i].name, false, pairs->items[i].value);
    leave(p, "}");
}

static void put_profiles(struct printer *p, const struct bs_policy *policy) {
    put_key(p, "fsProfiles", true);
    if (policy->n_profiles == 0) {
        bs_buf_str(p->out, " {}");
        return;
    }
    enter(p, " {");
    for (size_t i = 0; i < policy->n_profiles; i++) {
        const struct bs_profile_rules *profile = &policy->profiles[i];
        put_key(p, profile->name, false);
        enter(p, " {");
        put_rules(p, "read", &profile->read);
        put_rules(p, "modify", &profile->modify);
        leave(p, "}");
    }
    leave(p, "}");
}

void bs_policy_put(struct bs_buf *out, const struct bs_policy *policy,
                   enum bs_policy_format format) {
    struct printer printer = {out, format == BS_POLICY_JSON, 0, true};
    struct printer *p = &printer;
    enter(p, "{");
    p->depth = p->json;
    put_key(p, "schemaVersion", true);
    bs_buf_str(out, " 2");
    put_key(p, "kind", true);
    bs_buf_str(out, p->json ? " \"Policy\"" : " Policy");
    put_key(p, "metadata", true);
    enter(p, " {");
    put_text(p, "name", true, policy->name);
    put_pairs(p, "labels", &policy->labels);
    put_pairs(p, "annotations", &policy->annotations);
    leave(p, "}");
    put_key(p, "spec", true);
    enter(p, " {");
    if (policy->description != NULL)
        put_text(p, "description", true, policy->description);
    put_rules(p, "denyRead", &policy->deny_read);
    put_rules(p, "denyModify", &policy->deny_modify);
    put_profiles(p, policy);
    leave(p, "}");
    if (p->json)
        leave(p, "}");
    bs_buf_char(out, '\n');
}

int bs_policy_print(const struct bs_policy *policy, enum bs_policy_format format,
                    struct bs_bytes *out, struct bs_error *err) {
    struct bs_buf text = BS_BUF_INIT;
    bs_policy_put(&text, policy, format);
    if (text.failed) {
        bs_buf_clear(&text);
        return bs_fail(err, BS_E_EXECUTION, 0, "out of memory");
    }
    bs_bytes_clear(out);
    *out = bs_buf_take(&text);
    return BS_OK;
}
