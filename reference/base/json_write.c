#include "base/json_write.h"

#include <string.h>

#include "base/utf8.h"
#include "base/word.h"

static bool is_plain(char c) { return (unsigned char)c >= 0x20 && c != '"' && c != '\\'; }

/* Set the high bit of each byte that is below 0x20, a quote or a backslash; bytes above 0x7F need
 * no escape. The borrow of a subtraction may set the bit of another byte too, which costs only
 * time. */
static uint64_t may_need_escape(uint64_t word) {
    uint64_t quote = word ^ BS_EACH_BYTE('"');
    uint64_t escape = word ^ BS_EACH_BYTE('\\');
    return ((word - BS_EACH_BYTE(0x20)) | (quote - BS_EACH_BYTE(1)) | (escape - BS_EACH_BYTE(1))) &
           ~word & BS_EACH_BYTE(0x80);
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

/* Append without a check: bs_buf_reserve has made the room. */
static void add_reserved(struct bs_buf *out, const char *text, size_t len) {
    memcpy(out->data + out->len, text, len);
    out->len += len;
}

static void add_escaped(struct bs_buf *out, const char *text, size_t len) {
    for (size_t at = 0; at < len;) {
        size_t run = plain_run(text + at, len - at);
        bs_buf_add(out, text + at, run);
        at += run;
        if (at < len)
            put_escape(out, (unsigned char)text[at++]);
    }
}

void bs_json_quote(struct bs_buf *out, const char *text, size_t len) {
    if (!bs_buf_reserve(out, len + 2))
        return;
    out->data[out->len++] = '"';
    /* Most strings need no escape, so their characters are copied as they are. */
    size_t plain = plain_run(text, len);
    add_reserved(out, text, plain);
    if (plain == len) {
        out->data[out->len++] = '"';
        return;
    }
    add_escaped(out, text + plain, len - plain);
    bs_buf_char(out, '"');
}

/* Make room for `len` bytes of a value, and write the comma before it unless it is the first
 * one. */
static bool begin(struct bs_json_writer *out, size_t len) {
    struct bs_buf *text = &out->text;
    if (!bs_buf_reserve(text, len + 1))
        return false;
    if (out->needs_comma)
        text->data[text->len++] = ',';
    out->needs_comma = true;
    return true;
}

static void put_word(struct bs_json_writer *out, const char *word, size_t len) {
    if (begin(out, len))
        add_reserved(&out->text, word, len);
}

static void open(struct bs_json_writer *out, char bracket) {
    put_word(out, &bracket, 1);
    out->needs_comma = false;
}

/* Close a container. The next value of the enclosing level then needs a comma. */
static void close(struct bs_json_writer *out, char bracket) {
    bs_buf_char(&out->text, bracket);
    out->needs_comma = true;
}

void bs_json_open_object(struct bs_json_writer *out) { open(out, '{'); }
void bs_json_close_object(struct bs_json_writer *out) { close(out, '}'); }
void bs_json_open_array(struct bs_json_writer *out) { open(out, '['); }
void bs_json_close_array(struct bs_json_writer *out) { close(out, ']'); }

void bs_json_put_key(struct bs_json_writer *out, const char *name) {
    size_t len = strlen(name);
    if (!begin(out, len + 3))
        return;
    add_reserved(&out->text, "\"", 1);
    add_reserved(&out->text, name, len);
    add_reserved(&out->text, "\":", 2);
    out->needs_comma = false;
}

void bs_json_put_string(struct bs_json_writer *out, const char *text, size_t len) {
    if (begin(out, len + 2))
        bs_json_quote(&out->text, text, len);
}

void bs_json_put_text(struct bs_json_writer *out, const char *text) {
    bs_json_put_string(out, text, strlen(text));
}

void bs_json_put_lossy(struct bs_json_writer *out, const char *bytes, size_t len) {
    bs_json_open_string(out);
    bs_json_add_lossy(out, bytes, len);
    bs_json_close_string(out);
}

void bs_json_put_u64(struct bs_json_writer *out, uint64_t value) {
    if (begin(out, 0))
        bs_buf_u64(&out->text, value);
}

void bs_json_put_bool(struct bs_json_writer *out, bool value) {
    if (value)
        put_word(out, "true", 4);
    else
        put_word(out, "false", 5);
}

void bs_json_put_null(struct bs_json_writer *out) { put_word(out, "null", 4); }

void bs_json_put_value(struct bs_json_writer *out, const char *json, size_t len) {
    if (begin(out, len) && len > 0)
        add_reserved(&out->text, json, len);
}

void bs_json_put_written(struct bs_json_writer *out, const struct bs_json_writer *written) {
    out->text.failed |= written->text.failed;
    bs_json_put_value(out, written->text.data, written->text.len);
}

void bs_json_open_string(struct bs_json_writer *out) { put_word(out, "\"", 1); }

void bs_json_add_text(struct bs_json_writer *out, const char *text, size_t len) {
    add_escaped(&out->text, text, len);
}

void bs_json_add_lossy(struct bs_json_writer *out, const char *bytes, size_t len) {
    static const char replacement[] = "\xEF\xBF\xBD";
    for (size_t at = 0; at < len;) {
        size_t valid = bs_utf8_valid_prefix(bytes + at, len - at);
        add_escaped(&out->text, bytes + at, valid);
        at += valid;
        if (at == len)
            return;
        bs_buf_str(&out->text, replacement);
        at += bs_utf8_maximal_subpart(bytes + at, len - at);
    }
}

void bs_json_close_string(struct bs_json_writer *out) { bs_buf_char(&out->text, '"'); }

void bs_json_close_key(struct bs_json_writer *out) {
    bs_buf_add(&out->text, "\":", 2);
    out->needs_comma = false;
}

void bs_json_end_line(struct bs_json_writer *out) {
    bs_buf_char(&out->text, '\n');
    out->needs_comma = false;
}

void bs_json_writer_reset(struct bs_json_writer *out) {
    out->text.len = 0;
    out->needs_comma = false;
}

void bs_json_writer_clear(struct bs_json_writer *out) {
    bs_buf_clear(&out->text);
    out->needs_comma = false;
}
