#include "sbpl/unfold.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "sbpl/spellings.h"

/* No code point from this one on decomposes or folds. */
enum { PLANES = 0x2FA20 };

/* Twice as many rows as Unicode needs today. A process makes the rows only once, because this takes
 * some milliseconds. */
enum { MOST_ROWS = 8192 };

static struct bs_unfold_row rows[MOST_ROWS];
static size_t n_rows;

/* Joiners: letters that compose with the letter before them, although they are not marks by their
 * combining class. The list is sorted and has about thirty of them. */
enum { MOST_JOINERS = 128 };

static uint32_t joiners[MOST_JOINERS];
static size_t n_joiners;

static int by_key(const void *a, const void *b) {
    const struct bs_unfold_row *x = a;
    const struct bs_unfold_row *y = b;
    if (x->key[0] != y->key[0])
        return x->key[0] < y->key[0] ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

static bool make_row(uint32_t point, struct bs_unfold_row *row) {
    const utf8proc_property_t *property = utf8proc_get_property((int32_t)point);
    bool decomposes = property->decomp_seqindex != UINT16_MAX && property->decomp_type == 0;
    uint32_t parts[BS_UNFOLD_KEY];
    *row = (struct bs_unfold_row){.point = point};
    if (!decomposes) {
        row->key[0] = bs_unfold_loose(point);
        return row->key[0] != point;
    }
    size_t n = bs_unfold_decompose(point, parts);
    for (size_t i = 0; i < n; i++)
        row->key[i] = bs_unfold_loose(parts[i]);
    return true;
}

static bool is_mark(uint32_t part) {
    return utf8proc_get_property((int32_t)part)->combining_class != 0;
}

static void make_joiner(uint32_t part) {
    size_t at = n_joiners;
    while (at > 0 && joiners[at - 1] >= part)
        at--;
    if (at < n_joiners && joiners[at] == part)
        return;
    if (n_joiners == MOST_JOINERS)
        /* cannot happen soon, because a new version of Unicode adds only one or two for a script */
        abort();
    memmove(joiners + at + 1, joiners + at, (n_joiners - at) * sizeof *joiners);
    joiners[at] = part;
    n_joiners++;
}

static void make_rows(void) {
    for (uint32_t point = 1; point < PLANES; point++) {
        struct bs_unfold_row row;
        if (!make_row(point, &row))
            continue;
        if (n_rows == MOST_ROWS)
            /* cannot happen soon, because a new version of Unicode adds only a few dozen rows */
            abort();
        rows[n_rows++] = row;
        for (size_t i = 1; i < BS_UNFOLD_KEY && row.key[i] != 0; i++)
            if (!is_mark(row.key[i]))
                make_joiner(row.key[i]);
    }
    qsort(rows, n_rows, sizeof *rows, by_key);
}

void bs_unfold_open(struct bs_unfold *unfold) {
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    (void)pthread_once(&made, make_rows);
    memset(unfold, 0, sizeof *unfold);
    unfold->rows = rows;
    unfold->n_rows = n_rows;
}

static int by_part(const void *a, const void *b) {
    const uint32_t *x = a;
    const uint32_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* True if a part may compose with the character before it. Jamo compose too, but they need no
 * check, because composed text has syllables instead. */
static bool joins(uint32_t part) {
    if (part < 0x80)
        return false;
    return is_mark(part) || bsearch(&part, joiners, n_joiners, sizeof part, by_part) != NULL;
}

/* Return the length of the character at text[0]. */
static size_t character(const char *text, size_t len, uint32_t *point) {
    int32_t read = 0;
    utf8proc_ssize_t n = utf8proc_iterate((const uint8_t *)text, (utf8proc_ssize_t)len, &read);
    if (n < 1)
        abort(); /* the text was not UTF-8 */
    *point = (uint32_t)read;
    return (size_t)n;
}

/* Return the length of the cluster at text[0]: a character and the parts that join it. */
static size_t cluster(const char *text, size_t len) {
    uint32_t point = 0;
    size_t end = character(text, len, &point);
    while (end < len) {
        uint32_t parts[BS_UNFOLD_KEY];
        size_t next = character(text + end, len - end, &point);
        (void)bs_unfold_decompose(point, parts);
        if (!joins(parts[0]))
            break;
        end += next;
    }
    return end;
}

static bool put_ascii(struct bs_unfold *unfold, char c, size_t most, struct bs_buf *out) {
    char *known = unfold->ascii[(unsigned char)c];
    if (known[0] == '\0') {
        struct bs_buf made = BS_BUF_INIT;
        bool good = bs_spellings_put(unfold, &c, 1, BS_UNFOLD_ASCII - 1, &made);
        if (good)
            memcpy(known, made.data, made.len);
        out->failed |= made.failed;
        bs_buf_clear(&made);
        if (!good)
            return false;
    }
    if (strlen(known) > most)
        return false;
    bs_buf_str(out, known);
    return !out->failed;
}

bool bs_unfold_put(struct bs_unfold *unfold, const char *text, size_t len, size_t most,
                   struct bs_buf *out) {
    size_t start = out->len;
    for (size_t at = 0; at < len;) {
        size_t size = cluster(text + at, len - at);
        size_t left = most - (out->len - start);
        bool good = size == 1 ? put_ascii(unfold, text[at], left, out)
                              : bs_spellings_put(unfold, text + at, size, left, out);
        if (!good)
            return false;
        at += size;
    }
    return true;
}
