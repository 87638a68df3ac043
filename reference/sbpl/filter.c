#include "sbpl/filter.h"

#include <string.h>

#include <boxspec/sbpl.h>

#include "policy/path/rule.h"
#include "sbpl/put.h"
#include "sbpl/regex.h"
#include "sbpl/spell.h"

static const char too_long[] = "would be a string of more than 1000 bytes, which sandbox-exec does "
                               "not read; write it shorter, or as several rules";

#define LITERAL "(literal \""
#define SUBPATH "(subpath \""
#define REGEX "(regex \""

static void begin(struct bs_buf *prefix, const char *form, const struct bs_bytes *root,
                  bool pattern) {
    bs_buf_str(prefix, form);
    if (root->len > 1 && pattern)
        bs_spell_pattern(prefix, root->data, root->len);
    else if (root->len > 1)
        bs_spell_string(prefix, root->data, root->len);
    bs_buf_char(prefix, '/');
}

bool bs_filters_open(struct bs_filters *filters, const struct bs_bytes *root,
                     struct bs_unfold *unfold) {
    *filters = (struct bs_filters){.root = *root, .unfold = unfold};
    bs_spell_all(&filters->spelled);
    begin(&filters->literal, LITERAL, root, false);
    begin(&filters->subpath, SUBPATH, root, false);
    begin(&filters->regex, REGEX "^", root, true);
    return !filters->literal.failed && !filters->subpath.failed && !filters->regex.failed;
}

void bs_filters_close(struct bs_filters *filters) {
    bs_buf_clear(&filters->literal);
    bs_buf_clear(&filters->subpath);
    bs_buf_clear(&filters->regex);
}

static const char *close_string(struct bs_buf *out, size_t start) {
    BS_PUT(out, "\")");
    return !out->failed && out->len - start - 2 > BS_SBPL_STRING_BYTES ? too_long : NULL;
}

/* Write a filter without wildcards. All bytes are reserved at once, because this function writes
 * most of the text. */
static const char *put_plain(const struct bs_buf *prefix, size_t form, const char *text, size_t len,
                             unsigned look, struct bs_buf *out) {
    size_t start = out->len + form;
    if (len > BS_SBPL_STRING_BYTES)
        return too_long;
    if (!bs_buf_reserve(out, prefix->len + len * BS_SPELL_LONGEST + 2))
        return NULL;
    char *to = out->data + out->len;
    memcpy(to, prefix->data, prefix->len);
    to += prefix->len;
    if ((look & BS_HAS_QUOTED) == 0) {
        memcpy(to, text, len);
        to += len;
    } else {
        for (size_t i = 0; i < len; i++)
            to = bs_spell_byte(to, text[i], false);
    }
    out->len = (size_t)(to - out->data);
    return close_string(out, start);
}

static const char *put_root(const struct bs_filters *filters, const char *form,
                            struct bs_buf *out) {
    bs_buf_str(out, form);
    size_t start = out->len;
    bs_spell_string(out, filters->root.data, filters->root.len);
    return close_string(out, start);
}

/* Write a pattern for the root, or for the root and everything below it. The pattern has a slash
 * after the root only if the root is `/`. */
static void put_root_pattern(const struct bs_filters *filters, bool everything,
                             struct bs_buf *out) {
    bool slash = filters->root.len == 1;
    bs_buf_add(out, filters->regex.data, filters->regex.len - !slash);
    if (everything)
        bs_buf_str(out, slash ? ".*" : "(/.*)?");
}

static const char *put_regex(const struct bs_filters *filters, const struct bs_body *body,
                             bool deny, struct bs_buf *out) {
    size_t start = out->len + sizeof REGEX - 1;
    bool good = true;
    if (bs_body_is_root(body) || bs_body_is_everything(body)) {
        put_root_pattern(filters, bs_body_is_everything(body), out);
    } else {
        bs_put(out, filters->regex.data, filters->regex.len);
        good = bs_regex_put(filters, body, deny, start, out);
    }
    BS_PUT(out, "$");
    if (out->failed)
        return NULL;
    return good ? close_string(out, start) : too_long;
}

const char *bs_filter_put(const struct bs_filters *filters, const struct bs_body *body, bool deny,
                          struct bs_buf *out) {
    if (filters->unfold != NULL)
        return put_regex(filters, body, deny, out);
    if ((body->look & BS_HAS_WILDCARD) == 0 && bs_body_is_root(body))
        return put_root(filters, LITERAL, out);
    if ((body->look & BS_HAS_WILDCARD) == 0)
        return put_plain(&filters->literal, sizeof LITERAL - 1, body->text, body->len, body->look,
                         out);
    if (bs_body_is_everything(body))
        return put_root(filters, SUBPATH, out);
    if (body->top == body->len || bs_rule_has_wildcards(body->text, body->top))
        return put_regex(filters, body, deny, out);
    return put_plain(&filters->subpath, sizeof SUBPATH - 1, body->text, body->top, body->look, out);
}

const char *bs_filter_put_place(const struct bs_bytes *place, const char *below,
                                struct bs_buf *out) {
    bs_buf_str(out, SUBPATH);
    size_t start = out->len;
    bs_spell_string(out, place->data, place->len);
    bs_buf_str(out, below);
    return close_string(out, start);
}
