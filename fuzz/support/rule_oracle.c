#include "support/rule_oracle.h"

#include <stdio.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void trim(const char **text, size_t *len) {
    while (*len > 0 && is_blank((*text)[0])) {
        (*text)++;
        (*len)--;
    }
    while (*len > 0 && is_blank((*text)[*len - 1]))
        (*len)--;
}

static bool is_separator(char c) { return c == '/' || c == '\\'; }

static bool leads_away(const char *text, size_t len) {
    char letter = (char)(text[0] | 0x20);
    bool drive = len >= 2 && letter >= 'a' && letter <= 'z' && text[1] == ':';
    bool home = text[0] == '~' && (len == 1 || is_separator(text[1]));
    return drive || home || is_separator(text[0]);
}

static size_t append_segment(char *body, size_t to, const char *segment, size_t size) {
    if (to > 0)
        body[to++] = '/';
    for (size_t i = 0; i < size; i++) {
        bool third = i >= 2 && segment[i] == '*' && segment[i - 1] == '*' && segment[i - 2] == '*';
        if (!third)
            body[to++] = segment[i];
    }
    return to;
}

bool bs_fuzz_rule_read(const char *text, size_t len, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_rule *rule) {
    trim(&text, &len);
    rule->negated = len > 0 && text[0] == '!';
    if (rule->negated) {
        text++;
        len--;
        trim(&text, &len);
    }
    if (len == 0 || (rule->negated && text[0] == '!') || leads_away(text, len))
        return false;
    char *body = bs_fuzz_take(pool, len + 2);
    size_t to = 0;
    for (size_t from = 0; from < len;) {
        size_t size = 0;
        while (from + size < len && !is_separator(text[from + size]))
            size++;
        if (size == 2 && text[from] == '.' && text[from + 1] == '.')
            return false;
        if (size > 1 || (size == 1 && text[from] != '.'))
            to = append_segment(body, to, text + from, size);
        from += size + 1;
    }
    if (to == 0)
        body[to++] = '.';
    body[to] = '\0';
    rule->body = body;
    rule->len = to;
    size_t dot = len > 1 && text[len - 1] == '.' ? 1 : 0;
    bool deep = to >= 2 && strcmp(body + to - 2, "**") == 0;
    rule->names_folder = is_separator(text[len - dot - 1]) && !deep && !is_blank(body[to - 1]);
    return !leads_away(body, to);
}

bool bs_fuzz_rule_equals(const struct bs_fuzz_rule *a, const struct bs_fuzz_rule *b) {
    return strcmp(a->body, b->body) == 0;
}

size_t bs_fuzz_rule_top(const struct bs_fuzz_rule *rule) {
    const char *last = strrchr(rule->body, '/');
    return last != NULL && strcmp(last, "/**") == 0 ? (size_t)(last - rule->body) : 0;
}

bool bs_fuzz_rule_covers(const struct bs_fuzz_rule *cover, const struct bs_fuzz_rule *rule) {
    if (bs_fuzz_rule_equals(cover, rule) || strcmp(cover->body, "**") == 0)
        return true;
    size_t top = bs_fuzz_rule_top(cover);
    return top > 0 && strncmp(cover->body, rule->body, top) == 0 &&
           (rule->body[top] == '\0' || rule->body[top] == '/');
}

bool bs_fuzz_rule_is_plain(const struct bs_fuzz_rule *rule) {
    size_t top = bs_fuzz_rule_top(rule);
    return strcspn(rule->body, "*?") >= (top > 0 ? top : rule->len);
}

bool bs_fuzz_rule_is_vain(const struct bs_fuzz_rule *rule) {
    return is_blank(rule->body[0]) || is_blank(rule->body[rule->len - 1]);
}

const char *bs_fuzz_rule_spelled(const struct bs_fuzz_rule *rule, struct bs_fuzz_pool *pool) {
    bool front = rule->body[0] == '!' || is_blank(rule->body[0]);
    bool back = is_blank(rule->body[rule->len - 1]);
    size_t size = rule->len + sizeof "./" + sizeof "/";
    char *text = bs_fuzz_take(pool, size);
    (void)snprintf(text, size, "%s%s%s", front ? "./" : "", rule->body, back ? "/" : "");
    return text;
}
