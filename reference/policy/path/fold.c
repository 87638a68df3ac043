#include "policy/path/fold.h"

#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "policy/path/fold_table.h"

/* The largest number of code points. In the worst case (U+01D5) two bytes become three code
 * points. */
#define POINTS_ROOM(len) ((len) + (len) / 2 + 1)

uint32_t bs_fold_simple(uint32_t point) {
    size_t low = 0;
    size_t high = sizeof bs_fold_rows / sizeof *bs_fold_rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (point > bs_fold_rows[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == sizeof bs_fold_rows / sizeof *bs_fold_rows || point < bs_fold_rows[low].first ||
        (point - bs_fold_rows[low].first) % bs_fold_rows[low].step != 0)
        return point;
    return (uint32_t)((int32_t)point + bs_fold_rows[low].shift);
}

/* Fold the ASCII characters at the start, which are in NFC already. Returns their number. */
static size_t fold_ascii(const char *text, size_t len, char *out) {
    size_t at = 0;
    for (; at < len && (unsigned char)text[at] < 0x80; at++)
        out[at] = text[at] >= 'A' && text[at] <= 'Z' ? (char)(text[at] | 0x20) : text[at];
    return at;
}

static size_t compose(const char *text, size_t len, int32_t *points, size_t room) {
    utf8proc_ssize_t n =
        utf8proc_decompose((const uint8_t *)text, (utf8proc_ssize_t)len, points,
                           (utf8proc_ssize_t)room, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
    if (n < 0 || (size_t)n > room)
        abort(); /* only if the text was not UTF-8, or if POINTS_ROOM is wrong */
    return (size_t)utf8proc_normalize_utf32(points, n, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

static size_t encode(const int32_t *points, size_t n, char *out) {
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        used += (size_t)utf8proc_encode_char(points[i], (uint8_t *)out + used);
    return used;
}

static size_t fold_points(const char *text, size_t len, char *out, int32_t *points) {
    size_t room = POINTS_ROOM(len);
    size_t n = compose(text, len, points, room);
    for (size_t i = 0; i < n; i++)
        points[i] = (int32_t)bs_fold_simple((uint32_t)points[i]);
    size_t folded = encode(points, n, out);
    return encode(points, compose(out, folded, points, room), out);
}

__attribute__((noinline)) static size_t fold_on_stack(const char *text, size_t len, char *out) {
    int32_t points[POINTS_ROOM(BS_FOLD_STACK_BYTES)];
    return fold_points(text, len, out, points);
}

bool bs_fold(const char *text, size_t len, char *out, size_t *out_len) {
    size_t plain = fold_ascii(text, len, out);
    if (plain == len) {
        *out_len = len;
        return true;
    }
    /* Begin one character earlier, because the last ASCII character may compose with the character
     * after it. */
    size_t from = plain > 0 ? plain - 1 : 0;
    if (len - from <= BS_FOLD_STACK_BYTES) {
        *out_len = from + fold_on_stack(text + from, len - from, out + from);
        return true;
    }
    int32_t *points = malloc(POINTS_ROOM(len - from) * sizeof *points);
    if (points == NULL)
        return false;
    *out_len = from + fold_points(text + from, len - from, out + from, points);
    free(points);
    return true;
}
