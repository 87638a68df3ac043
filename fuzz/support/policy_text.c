#include "support/policy_text.h"

#include <string.h>

uint32_t bs_fuzz_choose(struct bs_fuzz_style *style, uint32_t n) {
    uint32_t x = style->state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    style->state = x;
    return (x >> 8) % n;
}

static void put_hex(struct bs_buf *out, unsigned value, unsigned digits, bool upper) {
    const char *hex = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    while (digits > 0)
        bs_buf_char(out, hex[value >> (4 * --digits) & 15]);
}

static unsigned code_at(const char *text, size_t *size) {
    unsigned lead = (unsigned char)text[0];
    *size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    unsigned code = *size == 1 ? lead : lead & (0x7FU >> *size);
    for (size_t i = 1; i < *size; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3FU);
    return code;
}

/* Return the short escape of a character, which is the same in both formats, or NULL. */
static const char *short_escape(unsigned code) {
    static const char *const escapes[128] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['/'] = "\\/",  ['\b'] = "\\b",
        ['\f'] = "\\f", ['\n'] = "\\n",  ['\r'] = "\\r", ['\t'] = "\\t"};
    return code < 128 ? escapes[code] : NULL;
}

static bool must_escape(unsigned code, bool yaml) {
    if (code < 0x20 || code == '"' || code == '\\')
        return true;
    return yaml && ((code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
                    code == 0xFEFF || code == 0xFFFE || code == 0xFFFF);
}

static void put_escape(struct bs_buf *out, unsigned code, struct bs_fuzz_style *style, bool yaml) {
    const char *letter = short_escape(code);
    bool upper = bs_fuzz_choose(style, 2) != 0;
    if (letter != NULL && bs_fuzz_choose(style, 4) != 1) {
        bs_buf_str(out, letter);
    } else if (yaml && bs_fuzz_choose(style, 2) != 0) {
        bs_buf_str(out, code < 0x100 ? "\\x" : "\\U");
        put_hex(out, code, code < 0x100 ? 2 : 8, upper);
    } else if (yaml && code > 0xFFFF) {
        bs_buf_str(out, "\\U");
        put_hex(out, code, 8, upper);
    } else if (code > 0xFFFF) {
        bs_buf_str(out, "\\u");
        put_hex(out, 0xD800 + ((code - 0x10000) >> 10), 4, upper);
        bs_buf_str(out, "\\u");
        put_hex(out, 0xDC00 + ((code - 0x10000) & 0x3FF), 4, upper);
    } else {
        bs_buf_str(out, "\\u");
        put_hex(out, code, 4, upper);
    }
}

static void put_quoted(struct bs_buf *out, const char *text, size_t len,
                       struct bs_fuzz_style *style, bool yaml) {
    bool escapes = bs_fuzz_choose(style, 8) == 1;
    bs_buf_char(out, '"');
    size_t size = 0;
    for (size_t at = 0; at < len; at += size) {
        unsigned code = code_at(text + at, &size);
        if (must_escape(code, yaml) || (escapes && bs_fuzz_choose(style, 2) != 0))
            put_escape(out, code, style, yaml);
        else
            bs_buf_add(out, text + at, size);
    }
    bs_buf_char(out, '"');
}

void bs_fuzz_put_quoted(struct bs_buf *out, const struct bs_fuzz_node *string,
                        struct bs_fuzz_style *style) {
    put_quoted(out, string->text, string->len, style, true);
}

static void put_space(struct bs_buf *out, struct bs_fuzz_style *style) {
    static const char *const spaces[] = {"", "", "", " ", "\t", "\n", "\r\n", "\r", "\n    "};
    bs_buf_str(out, spaces[bs_fuzz_choose(style, sizeof spaces / sizeof *spaces)]);
}

static void put_json(struct bs_buf *out, const struct bs_fuzz_node *node,
                     struct bs_fuzz_style *style) {
    if (node->kind == BS_FUZZ_STRING) {
        put_quoted(out, node->text, node->len, style, false);
        return;
    }
    if (node->kind != BS_FUZZ_LIST && node->kind != BS_FUZZ_MAP) {
        bs_buf_add(out, node->text, node->len);
        return;
    }
    bool map = node->kind == BS_FUZZ_MAP;
    size_t n = 0;
    bs_buf_char(out, map ? '{' : '[');
    for (const struct bs_fuzz_node *child = node->first; child != NULL; child = child->next, n++) {
        if (n > 0)
            bs_buf_char(out, map && n % 2 == 1 ? ':' : ',');
        put_space(out, style);
        put_json(out, child, style);
        put_space(out, style);
    }
    bs_buf_char(out, map ? '}' : ']');
}

void bs_fuzz_put_json(struct bs_buf *out, const struct bs_fuzz_node *root,
                      struct bs_fuzz_style style) {
    put_space(out, &style);
    put_json(out, root, &style);
    put_space(out, &style);
}
