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

static unsigned class_of(int32_t point) {
    return (unsigned)utf8proc_get_property(point)->combining_class;
}

static void sort_few(int32_t *points, size_t n) {
    for (size_t i = 1; i < n; i++) {
        int32_t point = points[i];
        size_t at = i;
        for (; at > 0 && class_of(points[at - 1]) > class_of(point); at--)
            points[at] = points[at - 1];
        points[at] = point;
    }
}

/* Sort by counting. The order of marks of one class stays. */
static void sort_many(int32_t *points, size_t n, int32_t *spare) {
    size_t next[257] = {0};
    for (size_t i = 0; i < n; i++)
        next[class_of(points[i]) + 1]++;
    for (size_t i = 1; i < 256; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < n; i++)
        spare[next[class_of(points[i])]++] = points[i];
    memcpy(points, spare, n * sizeof *points);
}

/* Bring the marks after each letter into the canonical order. utf8proc_decompose would do it too,
 * but in a time that grows with the square of the number of marks. Without `spare` the time
 * grows in this way too. */
static void order_marks(int32_t *points, size_t n, int32_t *spare) {
    enum { FEW = 32 };
    for (size_t start = 0; start < n;) {
        size_t end = start;
        while (end < n && class_of(points[end]) != 0)
            end++;
        if (end - start <= FEW || spare == NULL)
            sort_few(points + start, end - start);
        else
            sort_many(points + start, end - start, spare);
        start = end + 1;
    }
}

/* Write the text in NFC to `points`. `points` and `spare` have `room` code points each. For a short
 * text `spare` may be NULL. */
static size_t compose(const char *text, size_t len, int32_t *points, int32_t *spare, size_t room) {
    size_t n = 0;
    for (size_t at = 0; at < len;) {
        int32_t point = 0;
        int boundary = 0;
        utf8proc_ssize_t read =
            utf8proc_iterate((const uint8_t *)text + at, (utf8proc_ssize_t)(len - at), &point);
        utf8proc_ssize_t parts =
            read <= 0 ? -1
                      : utf8proc_decompose_char(point, points + n, (utf8proc_ssize_t)(room - n),
                                                UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, &boundary);
        if (parts < 0 || (size_t)parts > room - n)
            abort(); /* only if the text was not UTF-8, or if POINTS_ROOM is wrong */
        n += (size_t)parts;
        at += (size_t)read;
    }
    order_marks(points, n, spare);
    return (size_t)utf8proc_normalize_utf32(points, (utf8proc_ssize_t)n,
                                            UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

static size_t encode(const int32_t *points, size_t n, char *out) {
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        used += (size_t)utf8proc_encode_char(points[i], (uint8_t *)out + used);
    return used;
}

static size_t fold_points(const char *text, size_t len, char *out, int32_t *points,
                          int32_t *spare) {
    size_t room = POINTS_ROOM(len);
    size_t n = compose(text, len, points, spare, room);
    for (size_t i = 0; i < n; i++)
        points[i] = (int32_t)bs_fold_simple((uint32_t)points[i]);
    size_t folded = encode(points, n, out);
    return encode(points, compose(out, folded, points, spare, room), out);
}

__attribute__((noinline)) static size_t fold_on_stack(const char *text, size_t len, char *out) {
    int32_t points[POINTS_ROOM(BS_FOLD_STACK_BYTES)];
    return fold_points(text, len, out, points, NULL);
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
    int32_t *points = malloc(2 * POINTS_ROOM(len - from) * sizeof *points);
    if (points == NULL)
        return false;
    *out_len = from + fold_points(text + from, len - from, out + from, points,
                                  points + POINTS_ROOM(len - from));
    free(points);
    return true;
}
