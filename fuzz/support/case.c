#include "support/case.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

static struct {
    const uint8_t *data;
    size_t size;
} begun;

void bs_fuzz_begin(const uint8_t *data, size_t size) {
    begun.data = data;
    begun.size = size;
}

uint64_t bs_fuzz_input_hash(void) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < begun.size; i++)
        hash = (hash ^ begun.data[i]) * UINT64_C(1099511628211);
    return hash;
}

bool bs_fuzz_is_text(const char *text, size_t len) {
    return bs_utf8_valid_prefix(text, len) == len;
}

/* Write text in quotes. Bytes that are not printable ASCII or UTF-8 become \xNN. */
static void put_readable(struct bs_buf *out, const char *text, size_t len) {
    static const char hex[] = "0123456789abcdef";
    bool text_like = bs_fuzz_is_text(text, len);
    bs_buf_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            bs_buf_char(out, '\\');
        if (c == '\n') {
            bs_buf_str(out, "\\n");
        } else if (c < 0x20 || c == 0x7F || (c >= 0x80 && !text_like)) {
            char escape[] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
            bs_buf_add(out, escape, sizeof escape);
        } else {
            bs_buf_char(out, (char)c);
        }
    }
    bs_buf_char(out, '"');
}

static void put_name(struct bs_fuzz_case *c, const char *field, const char *suffix) {
    if (c->json) {
        if (!c->first)
            bs_buf_char(&c->out, ',');
        c->first = false;
        bs_buf_char(&c->out, '"');
        bs_buf_str(&c->out, field);
        bs_buf_str(&c->out, suffix);
        bs_buf_str(&c->out, "\":");
        return;
    }
    bs_buf_str(&c->out, "  ");
    bs_buf_str(&c->out, field);
    for (size_t width = strlen(field); width < 8; width++)
        bs_buf_char(&c->out, ' ');
    bs_buf_char(&c->out, ' ');
}

static void put_string(struct bs_fuzz_case *c, const char *text, size_t len, bool base64) {
    if (!c->json)
        put_readable(&c->out, text, len);
    else if (base64)
        bs_json_quote_base64(&c->out, text, len);
    else
        bs_json_quote(&c->out, text, len);
}

static void end_line(struct bs_fuzz_case *c) {
    if (!c->json)
        bs_buf_char(&c->out, '\n');
}

void bs_fuzz_case_open(struct bs_fuzz_case *c, const char *op) {
    c->first = true;
    if (c->json) {
        bs_buf_str(&c->out, "{\"op\":\"");
        bs_buf_str(&c->out, op);
        bs_buf_str(&c->out, "\",\"request\":{");
    } else {
        put_name(c, "op", "");
        bs_buf_str(&c->out, op);
        end_line(c);
    }
}

void bs_fuzz_case_close(struct bs_fuzz_case *c) {
    if (c->json)
        bs_buf_str(&c->out, "}}\n");
}

void bs_fuzz_case_text(struct bs_fuzz_case *c, const char *field, const char *text, size_t len) {
    bool base64 = !bs_fuzz_is_text(text, len);
    put_name(c, field, base64 ? "_b64" : "");
    put_string(c, text, len, base64);
    end_line(c);
}

void bs_fuzz_case_word(struct bs_fuzz_case *c, const char *field, const char *word) {
    put_name(c, field, "");
    put_string(c, word, strlen(word), false);
    end_line(c);
}

void bs_fuzz_case_texts_open(struct bs_fuzz_case *c, const char *field, bool text) {
    c->list = field;
    c->base64 = !text;
    if (!c->json)
        return;
    put_name(c, field, text ? "" : "_b64");
    bs_buf_char(&c->out, '[');
    c->first = true;
}

void bs_fuzz_case_item(struct bs_fuzz_case *c, const char *text, size_t len) {
    if (!c->json) {
        bs_fuzz_case_text(c, c->list, text, len);
        return;
    }
    if (!c->first)
        bs_buf_char(&c->out, ',');
    c->first = false;
    put_string(c, text, len, c->base64);
}

void bs_fuzz_case_texts_close(struct bs_fuzz_case *c) {
    if (c->json)
        bs_buf_char(&c->out, ']');
    c->first = false;
}

void bs_fuzz_case_json(struct bs_fuzz_case *c, const char *field, const char *json, size_t len) {
    put_name(c, field, "");
    bs_buf_add(&c->out, json, len);
    end_line(c);
}

static void write_case(FILE *out, const uint8_t *data, size_t size, bool json) {
    struct bs_fuzz_case c = {.json = json, .out = BS_BUF_INIT};
    bs_fuzz_describe(&c, data, size);
    if (c.out.failed)
        abort();
    fwrite(c.out.data, 1, c.out.len, out);
    bs_buf_clear(&c.out);
}

void bs_fuzz_show_case(FILE *out) {
    if (begun.data != NULL)
        write_case(out, begun.data, begun.size, false);
}

void bs_fuzz_write_case(FILE *out, const uint8_t *data, size_t size) {
    write_case(out, data, size, true);
}
