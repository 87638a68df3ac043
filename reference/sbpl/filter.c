#include "sbpl/filter.h"

#include <string.h>

#include <boxspec/sbpl.h>

#include "policy/rule.h"
#include "sbpl/spell.h"

static const char too_long[] = "would be a string of more than 1000 bytes, which sandbox-exec does "
                               "not read; write it shorter, "
                               "or as several rules";

bool bs_filters_open(struct bs_filters *filters, const struct bs_bytes *root,
                     struct bs_unfold *unfold) {
    size_t len = root->len > 1 ? root->len : 0;
    *filters = (struct bs_filters){BS_BUF_INIT, BS_BUF_INIT, unfold};
    bs_spell_string(&filters->string, root->data, len);
    bs_spell_pattern(&filters->pattern, root->data, len);
    return !filters->string.failed && !filters->pattern.failed;
}

void bs_filters_close(struct bs_filters *filters) {
    bs_buf_clear(&filters->string);
    bs_buf_clear(&filters->pattern);
}

size_t bs_filter_top(const struct bs_pattern *body) {
    size_t top = body->len;
    for (size_t less = bs_rule_subtree(body->text, top); less > 0;
         less = bs_rule_subtree(body->text, top))
        top = less;
    return top;
}

static const char *close_string(struct bs_buf *out, size_t start) {
    if (out->len - start > BS_SBPL_STRING_BYTES)
        return too_long;
    bs_buf_add(out, "\")", 2);
    return NULL;
}

#define OPEN(out, word) bs_buf_add(out, "(" word " \"", sizeof "(" word " \"" - 1)

static const char *put_plain(const struct bs_filters *filters, const char *text, size_t len,
                             unsigned look, struct bs_buf *out) {
    size_t start = out->len;
    bs_buf_add(out, filters->string.data, filters->string.len);
    bs_buf_char(out, '/');
    if ((look & BS_HAS_QUOTED) == 0)
        bs_buf_add(out, text, len);
    else
        bs_spell_string(out, text, len);
    return close_string(out, start);
}

static const char *put_root(const struct bs_filters *filters, struct bs_buf *out) {
    size_t start = out->len;
    bs_buf_add(out, filters->string.data, filters->string.len);
    if (filters->string.len == 0)
        bs_buf_char(out, '/');
    return close_string(out, start);
}

/* A regular expression while it is being written. */
struct writer {
    const struct bs_filters *filters;
    struct bs_buf *out;
    size_t start; /* of the string */
    bool deny;
    bool too_long;
};

/* One character for the policy. Nobody knows whether the kernel counts bytes or characters, so a
 * deny takes what may be one either way, and an allow only what is one both ways. Where names fold,
 * a character may be spelled in up to nine bytes: three jamo. */
static void put_question(const struct writer *writer) {
    if (!writer->deny)
        bs_buf_str(writer->out, "[ -.0-~]");
    else if (writer->filters->unfold == NULL)
        bs_buf_str(writer->out, "([ -.0-~]|[^ -~][^ -~]?[^ -~]?[^ -~]?)");
    else
        bs_buf_str(writer->out, "[^/][^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?");
}

static size_t literal_len(const char *text, size_t len) {
    size_t n = 0;
    while (n < len && text[n] != '*' && text[n] != '?' && text[n] != '/')
        n++;
    return n;
}

/* Returns how much of the text it was. */
static size_t put_literal(struct writer *writer, const char *text, size_t len) {
    size_t n = literal_len(text, len);
    struct bs_unfold *unfold = writer->filters->unfold;
    size_t used = writer->out->len - writer->start;
    if (unfold == NULL)
        bs_spell_pattern(writer->out, text, n);
    else if (used > BS_SBPL_STRING_BYTES ||
             !bs_unfold_put(unfold, text, n, BS_SBPL_STRING_BYTES - used, writer->out))
        writer->too_long = true;
    return n;
}

/* `text` begins a segment. Returns how much of it was a wildcard of a whole segment. */
static size_t put_segment_wildcard(const struct writer *writer, const char *text, size_t len) {
    size_t n = 0;
    while (len - n >= 3 && memcmp(text + n, "**/", 3) == 0)
        n += 3;
    if (n > 0)
        bs_buf_str(writer->out, "(.*/)?");
    if (n < len && text[n] == '*' && (n + 1 == len || text[n + 1] == '/')) {
        bs_buf_str(writer->out, "[^/]+");
        n++;
    }
    return n;
}

static void put_segments(struct writer *writer, const char *text, size_t len) {
    bool starts = true;
    for (size_t at = 0; at < len && !writer->too_long;) {
        if (starts)
            at += put_segment_wildcard(writer, text + at, len - at);
        if (at == len)
            return;
        starts = text[at] == '/';
        if (text[at] == '/') {
            bs_buf_char(writer->out, '/');
            at++;
        } else if (text[at] == '?') {
            put_question(writer);
            at++;
        } else if (text[at] == '*') {
            size_t run = at + 1 < len && text[at + 1] == '*' ? 2 : 1;
            bs_buf_str(writer->out, run == 2 ? ".*" : "[^/]*");
            at += run;
        } else {
            at += put_literal(writer, text + at, len - at);
        }
    }
}

static const char *put_regex(const struct bs_filters *filters, const struct bs_pattern *body,
                             bool deny, struct bs_buf *out) {
    OPEN(out, "regex");
    struct writer writer = {filters, out, out->len, deny, false};
    size_t top = bs_filter_top(body);
    bool everything = top == 2 && memcmp(body->text, "**", 2) == 0;
    bool root = top == 1 && body->text[0] == '.';
    bs_buf_char(out, '^');
    bs_buf_add(out, filters->pattern.data, filters->pattern.len);
    if (!everything && !root) {
        bs_buf_char(out, '/');
        put_segments(&writer, body->text, top);
    }
    if (filters->pattern.len == 0 && (everything || root))
        bs_buf_str(out, everything ? "/.*" : "/");
    else if (everything || top < body->len)
        bs_buf_str(out, "(/.*)?");
    bs_buf_char(out, '$');
    if (out->failed)
        return NULL;
    return writer.too_long ? too_long : close_string(out, writer.start);
}

const char *bs_filter_put(const struct bs_filters *filters, const struct bs_pattern *body,
                          bool deny, struct bs_buf *out) {
    unsigned look = bs_spell_look(body->text, body->len);
    if (filters->unfold != NULL)
        return put_regex(filters, body, deny, out);
    if ((look & BS_HAS_WILDCARD) == 0) {
        OPEN(out, "literal");
        return body->len == 1 && body->text[0] == '.'
                   ? put_root(filters, out)
                   : put_plain(filters, body->text, body->len, look, out);
    }
    size_t top = bs_filter_top(body);
    if (top == 2 && memcmp(body->text, "**", 2) == 0) {
        OPEN(out, "subpath");
        return put_root(filters, out);
    }
    if (top == body->len || bs_rule_has_wildcards(body->text, top))
        return put_regex(filters, body, deny, out);
    OPEN(out, "subpath");
    return put_plain(filters, body->text, top, look, out);
}

const char *bs_filter_put_place(const struct bs_bytes *place, const char *below,
                                struct bs_buf *out) {
    OPEN(out, "subpath");
    size_t start = out->len;
    bs_spell_string(out, place->data, place->len);
    bs_buf_str(out, below);
    return close_string(out, start);
}
