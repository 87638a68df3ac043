#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Return the length of the sequences that start with the byte `first`, or 0 if no sequence does.
 * *low and *high become the bounds of the second byte. The bounds exclude E0 80, ED A0, F4 90 and
 * so on. All bytes after the second one are 80..BF. */
static size_t sequence(uint8_t first, uint8_t *low, uint8_t *high) {
    *low = 0x80;
    *high = 0xBF;
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return 2;
    if (first >= 0xE0 && first <= 0xEF) {
        if (first == 0xE0)
            *low = 0xA0;
        if (first == 0xED)
            *high = 0x9F;
        return 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        if (first == 0xF0)
            *low = 0x90;
        if (first == 0xF4)
            *high = 0x8F;
        return 4;
    }
    return 0;
}

/* Return how many bytes at `data` are well-formed as the beginning of a sequence. *whole becomes
 * true if the sequence is complete. */
static size_t accepted(const uint8_t *data, size_t len, bool *whole) {
    uint8_t low = 0;
    uint8_t high = 0;
    *whole = data[0] < 0x80;
    if (*whole)
        return 1;
    size_t want = sequence(data[0], &low, &high);
    if (want == 0)
        return 0;
    size_t have = 1;
    while (have < want && have < len && data[have] >= low && data[have] <= high) {
        low = 0x80;
        high = 0xBF;
        have++;
    }
    *whole = have == want;
    return have;
}

static uint64_t word_at(const uint8_t *data) {
    uint64_t word = 0;
    memcpy(&word, data, sizeof word);
    return word;
}

/* Return the length of the ASCII text at the start, in steps of 32 and then of 8 bytes. Most text
 * is ASCII. */
static size_t ascii_words(const uint8_t *data, size_t len) {
    const uint64_t high = UINT64_C(0x8080808080808080);
    enum { WORD = sizeof high };
    size_t at = 0;
    for (; len - at >= (size_t)4 * WORD; at += (size_t)4 * WORD) {
        uint64_t front = word_at(data + at) | word_at(data + at + WORD);
        uint64_t back =
            word_at(data + at + (size_t)2 * WORD) | word_at(data + at + (size_t)3 * WORD);
        if (((front | back) & high) != 0)
            break;
    }
    while (len - at >= WORD && (word_at(data + at) & high) == 0)
        at += WORD;
    return at;
}

size_t bs_utf8_valid_prefix(const char *data, size_t len) {
    const uint8_t *bytes = (const uint8_t *)data;
    size_t at = 0;
    while (at < len) {
        at += ascii_words(bytes + at, len - at);
        if (at == len)
            break;
        bool whole = false;
        size_t n = accepted(bytes + at, len - at, &whole);
        if (!whole)
            break;
        at += n;
    }
    return at;
}

size_t bs_utf8_maximal_subpart(const char *data, size_t len) {
    bool whole = false;
    size_t n = accepted((const uint8_t *)data, len, &whole);
    return n > 0 ? n : 1;
}

size_t bs_utf8_incomplete_tail(const char *data, size_t len) {
    size_t most = len < 3 ? len : 3;
    for (size_t back = most; back > 0; back--) {
        bool whole = false;
        size_t n = accepted((const uint8_t *)data + len - back, back, &whole);
        if (n == back && !whole)
            return back;
    }
    return 0;
}

void bs_bytes_clear(struct bs_bytes *bytes) {
    free(bytes->data);
    *bytes = (struct bs_bytes)BS_BYTES_INIT;
}

int bs_bytes_to_text(struct bs_bytes *bytes) {
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t at = bs_utf8_valid_prefix(bytes->data, bytes->len);
    if (at == bytes->len)
        return BS_OK;
    struct bs_buf text = BS_BUF_INIT;
    /* Most output has few ill-formed bytes, so the result is about as long as the input. */
    (void)bs_buf_reserve(&text, bytes->len);
    bs_buf_add(&text, bytes->data, at);
    while (at < bytes->len) {
        at += bs_utf8_maximal_subpart(bytes->data + at, bytes->len - at);
        bs_buf_add(&text, replacement, 3);
        size_t good = bs_utf8_valid_prefix(bytes->data + at, bytes->len - at);
        bs_buf_add(&text, bytes->data + at, good);
        at += good;
    }
    if (text.failed) {
        bs_buf_clear(&text);
        return BS_E_EXECUTION;
    }
    bs_bytes_clear(bytes);
    *bytes = bs_buf_take(&text);
    return BS_OK;
}
