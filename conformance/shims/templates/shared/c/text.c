/* Texts and bytes of requests and answers. This file needs no change. */
#include "protocol.h"

#include <string.h>

const cJSON *field(const cJSON *holder, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(holder, name);
}

const char *string(const cJSON *holder, const char *name) {
    return cJSON_GetStringValue(field(holder, name));
}

void append(struct bytes *to, const void *data, size_t size) {
    if (to->capacity < to->size + size + 1) { /* the last byte stays 0, so that a text ends */
        to->capacity = 2 * (to->size + size) + 64;
        unsigned char *more = allocate(to->capacity);
        if (to->size > 0)
            memcpy(more, to->data, to->size);
        to->data = more;
    }
    if (size > 0)
        memcpy(to->data + to->size, data, size);
    to->size += size;
}

/* Write `to` in the place of each `from`. An escape of JSON begins after an even number of `\`. */
static char *replaced(const char *in, const char *from, const char *to) {
    struct bytes out = {0};
    append(&out, "", 0);
    for (const char *next; (next = strstr(in, from)); in = next + strlen(from)) {
        const char *before = next;
        while (before > in && before[-1] == '\\')
            before--;
        bool escaped = (next - before) % 2 != 0;
        append(&out, in, (size_t)(next - in));
        append(&out, escaped ? from : to, strlen(escaped ? from : to));
    }
    append(&out, in, strlen(in));
    return (char *)out.data;
}

cJSON *parsed(const char *json) {
    return cJSON_ParseWithOpts(replaced(json, "\\u0000", "\xC0\x80"), NULL, true);
}

char *printed(const cJSON *value) {
    return replaced(cJSON_PrintUnformatted(value), "\xC0\x80", "\\u0000");
}

struct bytes content(const cJSON *holder, const char *name) {
    const char *encoded = string(holder, format("%s_b64", name)), *text = string(holder, name);
    if (encoded)
        return from_base64(encoded);
    struct bytes found = {0};
    append(&found, "", 0);
    for (const char *nul; text && (nul = strstr(text, "\xC0\x80")); text = nul + 2)
        append(&found, text, (size_t)(nul - text)), append(&found, "", 1);
    if (text)
        append(&found, text, strlen(text));
    return found;
}
