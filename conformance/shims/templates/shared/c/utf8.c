/* UTF-8 in requests and answers. This file needs no change. */
#include "protocol.h"

#include <string.h>

typedef unsigned char byte;

/* Return how many bytes at `at` form a character, or an incomplete one. */
static size_t together(const byte *at, size_t left, bool *whole) {
    static const byte bounds[][5] = {
        /* of the first byte and of the second byte, and the length */
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    const byte(*kind)[5] = bounds, (*end)[5] = bounds + sizeof bounds / sizeof *bounds;
    while (kind < end && (*at < (*kind)[0] || *at > (*kind)[1]))
        kind++;
    size_t n = 1, length = kind < end ? (*kind)[4] : 0;
    if (n < length && n < left && at[1] >= (*kind)[2] && at[1] <= (*kind)[3])
        for (n = 2; n < length && n < left && at[n] >= 0x80 && at[n] <= 0xBF;)
            n++;
    *whole = n == length;
    return n;
}

struct bytes repaired(struct bytes raw) {
    struct bytes text = {0};
    bool whole;
    append(&text, "", 0);
    for (size_t at = 0, n; at < raw.size; at += n) {
        n = together(raw.data + at, raw.size - at, &whole);
        append(&text, whole ? raw.data + at : (const byte *)"\xEF\xBF\xBD", whole ? n : 3);
    }
    return text;
}

const char *text_of(const cJSON *holder, const char *name) {
    struct bytes raw = content(holder, name), text = repaired(raw);
    bool same = text.size == raw.size && memcmp(text.data, raw.data, raw.size) == 0;
    return same && strlen((char *)text.data) == text.size ? (char *)text.data : NULL;
}

void add_text(cJSON *holder, const char *name, struct bytes utf8) {
    struct bytes text = {0};
    const byte *from = utf8.data, *end = from + utf8.size;
    append(&text, "", 0);
    for (const byte *nul; from < end && (nul = memchr(from, 0, (size_t)(end - from)));) {
        append(&text, from, (size_t)(nul - from)), append(&text, "\xC0\x80", 2);
        from = nul + 1;
    }
    append(&text, from, (size_t)(end - from));
    cJSON_AddStringToObject(holder, name, (char *)text.data);
}
