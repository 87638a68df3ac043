#include "sbpl/spell.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const uint8_t classes[256] = {['*'] = BS_HAS_WILDCARD | BS_HAS_META,
                                     ['?'] = BS_HAS_WILDCARD | BS_HAS_META,
                                     ['"'] = BS_HAS_QUOTED,
                                     ['\\'] = BS_HAS_QUOTED | BS_HAS_META,
                                     ['.'] = BS_HAS_META,
                                     ['['] = BS_HAS_META,
                                     [']'] = BS_HAS_META,
                                     ['('] = BS_HAS_META,
                                     [')'] = BS_HAS_META,
                                     ['{'] = BS_HAS_META,
                                     ['}'] = BS_HAS_META,
                                     ['+'] = BS_HAS_META,
                                     ['^'] = BS_HAS_META,
                                     ['$'] = BS_HAS_META,
                                     ['|'] = BS_HAS_META,
                                     [0x7F] = BS_HAS_CONTROL};

unsigned bs_spell_look(const char *text, size_t len) {
    unsigned found = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        found |= classes[c] | (c < 0x20);
    }
    return found;
}

/* Each byte as it is, or with what stands in front of it. */
static void spell(struct bs_buf *out, const char *text, size_t len, bool pattern) {
    enum { LONGEST = 4 };
    if (len > SIZE_MAX / LONGEST || !bs_buf_reserve(out, len * LONGEST)) {
        out->failed = true;
        return;
    }
    char *to = out->data + out->len;
    for (size_t i = 0; i < len; i++) {
        unsigned class = classes[(unsigned char)text[i]];
        if (pattern && (class & BS_HAS_META) != 0) {
            *to++ = '\\';
            *to++ = '\\';
        }
        if ((class & BS_HAS_QUOTED) != 0)
            *to++ = '\\';
        *to++ = text[i];
    }
    out->len = (size_t)(to - out->data);
}

void bs_spell_string(struct bs_buf *out, const char *text, size_t len) {
    spell(out, text, len, false);
}

void bs_spell_pattern(struct bs_buf *out, const char *text, size_t len) {
    spell(out, text, len, true);
}

const char *bs_spell_for_people(const char *text, size_t len, char *buf, size_t size) {
    enum { ESCAPE = sizeof "\\x0a" - 1, DOTS = sizeof "..." - 1 };
    size_t used = 0;
    size_t at = 0;
    for (; at < len && used + ESCAPE + DOTS < size; at++) {
        unsigned char c = (unsigned char)text[at];
        if (c < 0x20 || c == 0x7F)
            used += (size_t)snprintf(buf + used, size - used, "\\x%02x", c);
        else
            buf[used++] = text[at];
    }
    if (at < len) {
        used -= bs_utf8_incomplete_tail(buf, used);
        memcpy(buf + used, "...", DOTS);
        used += DOTS;
    }
    buf[used] = '\0';
    return buf;
}
