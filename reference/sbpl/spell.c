#include "sbpl/spell.h"

#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/utf8.h"

#define CONTROL8(at)                                                                               \
    [at] = BS_HAS_CONTROL, [(at) + 1] = BS_HAS_CONTROL, [(at) + 2] = BS_HAS_CONTROL,               \
    [(at) + 3] = BS_HAS_CONTROL, [(at) + 4] = BS_HAS_CONTROL, [(at) + 5] = BS_HAS_CONTROL,         \
    [(at) + 6] = BS_HAS_CONTROL, [(at) + 7] = BS_HAS_CONTROL

const uint8_t bs_spell_classes[256] = {CONTROL8(0),
                                       CONTROL8(8),
                                       CONTROL8(16),
                                       CONTROL8(24),
                                       [0x7F] = BS_HAS_CONTROL,
                                       ['*'] = BS_HAS_WILDCARD | BS_HAS_META,
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
                                       ['|'] = BS_HAS_META};

#ifdef __SSE2__
enum { BLOCK = 16 };

struct look {
    __m128i control;
    __m128i wildcard;
    __m128i quoted;
};

static __m128i either(__m128i bytes, char a, char b) {
    return _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(a)),
                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b)));
}

static void classify_block(struct look *look, const char *text) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    /* SSE2 compares signed bytes. After the highest bit is flipped, the order is that of unsigned
     * bytes. */
    __m128i turned = _mm_xor_si128(bytes, _mm_set1_epi8(-128));
    __m128i control = _mm_or_si128(_mm_cmplt_epi8(turned, _mm_set1_epi8(' ' - 128)),
                                   _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F)));
    look->control = _mm_or_si128(look->control, control);
    look->wildcard = _mm_or_si128(look->wildcard, either(bytes, '*', '?'));
    look->quoted = _mm_or_si128(look->quoted, either(bytes, '"', '\\'));
}

/* Examine the text in blocks. The last two blocks may overlap. */
static unsigned look_at_blocks(const char *text, size_t len) {
    struct look look = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
    size_t at = 0;
    do {
        at = at < len - BLOCK ? at : len - BLOCK;
        classify_block(&look, text + at);
        at += BLOCK;
    } while (at < len);
    unsigned found = _mm_movemask_epi8(look.control) != 0 ? BS_HAS_CONTROL : 0;
    found |= _mm_movemask_epi8(look.wildcard) != 0 ? BS_HAS_WILDCARD : 0;
    return found | (_mm_movemask_epi8(look.quoted) != 0 ? BS_HAS_QUOTED : 0);
}
#endif

unsigned bs_spell_look(const char *text, size_t len) {
    unsigned found = 0;
#ifdef __SSE2__
    if (len >= BLOCK)
        return look_at_blocks(text, len);
#endif
    for (size_t i = 0; i < len; i++)
        found |= bs_spell_classes[(unsigned char)text[i]];
    return found;
}

static void spell(struct bs_buf *out, const char *text, size_t len, bool pattern) {
    if (len > SIZE_MAX / BS_SPELL_LONGEST || !bs_buf_reserve(out, len * BS_SPELL_LONGEST)) {
        out->failed = true;
        return;
    }
    char *to = out->data + out->len;
    for (size_t i = 0; i < len; i++)
        to = bs_spell_byte(to, text[i], pattern);
    out->len = (size_t)(to - out->data);
}

void bs_spell_string(struct bs_buf *out, const char *text, size_t len) {
    spell(out, text, len, false);
}

void bs_spell_pattern(struct bs_buf *out, const char *text, size_t len) {
    spell(out, text, len, true);
}

void bs_spell_all(struct bs_spelled *spelled) {
    memset(spelled, 0, sizeof *spelled);
    for (size_t i = 0; i < 256; i++) {
        char *bytes = spelled->bytes[i];
        if ((bs_spell_classes[i] & BS_HAS_WILDCARD) == 0)
            spelled->lens[i] = (uint8_t)(bs_spell_byte(bytes, (char)i, true) - bytes);
    }
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
