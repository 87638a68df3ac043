#include "support/text_oracle.h"

#include <stdbool.h>

/* The well-formed sequences of UTF-8: first byte, range of the second byte, length. */
static const struct sequence {
    unsigned char first;
    unsigned char last;
    unsigned char low; /* range of the second byte; later bytes are 80 to BF */
    unsigned char high;
    size_t size;
} sequences[] = {
    {0x00, 0x7F, 0x80, 0xBF, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

static size_t sequence_at(const unsigned char *text, size_t left) {
    size_t n = sizeof sequences / sizeof *sequences;
    const struct sequence *s = sequences;
    while (s < sequences + n && (text[0] < s->first || text[0] > s->last))
        s++;
    if (s == sequences + n || s->size > left)
        return 0;
    for (size_t i = 1; i < s->size; i++) {
        unsigned char low = i == 1 ? s->low : 0x80;
        unsigned char high = i == 1 ? s->high : 0xBF;
        if (text[i] < low || text[i] > high)
            return 0;
    }
    return s->size;
}

size_t bs_fuzz_first_alien(const char *text, size_t len) {
    for (size_t at = 0; at < len;) {
        size_t size = (unsigned char)text[at] < 0x80
                          ? 1
                          : sequence_at((const unsigned char *)text + at, len - at);
        if (size == 0)
            return at;
        at += size;
    }
    return SIZE_MAX;
}

struct bs_fuzz_place bs_fuzz_place_of(const char *text, size_t at) {
    struct bs_fuzz_place place = {1, 1};
    for (size_t i = 0; i < at; i++) {
        bool second = text[i] == '\n' && i > 0 && text[i - 1] == '\r';
        if ((text[i] == '\n' || text[i] == '\r') && !second)
            place = (struct bs_fuzz_place){place.line + 1, 1};
        else if (!second && ((unsigned char)text[i] & 0xC0) != 0x80)
            place.column++;
    }
    return place;
}
