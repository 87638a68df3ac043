#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode(struct bs_buf *out, const unsigned char *bytes, size_t len) {
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (n > 1)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (n > 2)
            group |= bytes[i + 2];
        char quad[4] = {alphabet[group >> 18], alphabet[group >> 12 & 63],
                        n > 1 ? alphabet[group >> 6 & 63] : '=',
                        n > 2 ? alphabet[group & 63] : '='};
        bs_buf_add(out, quad, sizeof quad);
    }
}

void bs_json_quote_base64(struct bs_buf *out, const void *data, size_t len) {
    bs_buf_char(out, '"');
    encode(out, data, len);
    bs_buf_char(out, '"');
}

void bs_json_put_base64(struct bs_json_writer *out, const void *data, size_t len) {
    bs_json_open_string(out);
    encode(&out->text, data, len);
    bs_json_close_string(out);
}

static int digit_of(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

bool bs_base64_decode(char *text, size_t text_len, size_t *len) {
    if (text_len % 4 != 0)
        return false;
    size_t padding = 0;
    while (padding < 2 && padding < text_len && text[text_len - 1 - padding] == '=')
        padding++;
    /* the result is never longer than the text read so far, so no unread byte is overwritten */
    size_t n = 0;
    uint32_t bits = 0;
    size_t digits = text_len - padding;
    for (size_t i = 0; i < digits; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        /* Each digit except the first of four completes a byte. */
        size_t left = 6 - i % 4 * 2;
        if (i % 4 != 0)
            text[n++] = (char)(bits >> left & 0xFF);
    }
    /* Unused bits of the last digit must be zero; otherwise a value would have two spellings. */
    if (padding > 0 && (bits & (padding == 1 ? 3U : 15U)) != 0)
        return false;
    text[n] = '\0';
    *len = n;
    return true;
}
