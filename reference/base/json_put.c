#include "base/json_put.h"

#include <string.h>

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static bool is_plain(char c) { return (unsigned char)c >= 0x20 && c != '"' && c != '\\'; }

/* A high bit where a byte below 0x20, a quote or a backslash may be; one in bytes above 0x7F is
 * cleared, and a borrow can only claim too much. */
static uint64_t may_need_escape(uint64_t word) {
    uint64_t quote = word ^ EACH('"');
    uint64_t escape = word ^ EACH('\\');
    return ((word - EACH(0x20)) | (quote - EACH(1)) | (escape - EACH(1))) & ~word & EACH(0x80);
}

static size_t plain_run(const char *text, size_t len) {
    size_t at = 0;
    uint64_t word = 0;
    for (; len - at >= sizeof word; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        if (may_need_escape(word) != 0)
            break;
    }
    while (at < len && is_plain(text[at]))
        at++;
    return at;
}

static void put_escape(struct bs_buf *out, unsigned char c) {
    static const char hex[] = "0123456789abcdef";
    char escape[6] = {'\\', (char)c, '0', '0', hex[c >> 4], hex[c & 15]};
    bool is_short = c >= 0x20 || c == '\n';
    if (!is_short)
        escape[1] = 'u';
    else if (c == '\n')
        escape[1] = 'n';
    bs_buf_add(out, escape, is_short ? 2 : sizeof escape);
}

void bs_json_put_string(struct bs_buf *out, const char *text, size_t len) {
    /* Most strings need no escape and fit as they are, with their quotes. */
    if (!bs_buf_reserve(out, len + 2))
        return;
    out->data[out->len++] = '"';
    for (size_t at = 0; at < len;) {
        size_t run = plain_run(text + at, len - at);
        bs_buf_add(out, text + at, run);
        at += run;
        if (at < len)
            put_escape(out, (unsigned char)text[at++]);
    }
    bs_buf_char(out, '"');
}
