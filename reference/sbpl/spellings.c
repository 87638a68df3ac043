#include "sbpl/spellings.h"

#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "policy/path/fold.h"
#include "sbpl/spell.h"

/* Limits of a search. A cluster that exceeds them is not meaningful text, or has more spellings
 * than a string can hold. */
enum { MOST_PARTS = 24, MOST_STEPS = 20000, MOST_BYTES = MOST_PARTS * 4 };

enum { IOTA = 0x3B9 };

/* True for iota. The mark below a letter (U+0345) folds to the letter iota. So an iota among the
 * parts may come from this mark, and the mark may stand anywhere among the marks. */
static bool may_stand_anywhere(uint32_t part) { return part == IOTA; }

size_t bs_unfold_decompose(uint32_t point, uint32_t *parts) {
    int32_t decomposed[BS_UNFOLD_KEY];
    utf8proc_ssize_t n = utf8proc_decompose_char((int32_t)point, decomposed, BS_UNFOLD_KEY,
                                                 UTF8PROC_DECOMPOSE, NULL);
    if (n < 1 || n > BS_UNFOLD_KEY)
        abort(); /* Unicode guarantees that no canonical decomposition is longer */
    for (utf8proc_ssize_t i = 0; i < n; i++)
        parts[i] = (uint32_t)decomposed[i];
    return (size_t)n;
}

uint32_t bs_unfold_loose(uint32_t part) { return bs_fold_simple(part); }

struct search {
    const struct bs_unfold *unfold;
    const char *wanted; /* the cluster, folded and composed */
    size_t wanted_len;
    uint32_t parts[MOST_PARTS]; /* parts of the cluster, decomposed and loosely folded */
    uint8_t classes[MOST_PARTS];
    size_t n;
    uint32_t used;             /* bit i is set if parts[i] is in the spelling */
    char spelling[MOST_BYTES]; /* the spelling that is being built */
    struct bs_buf found;       /* the spellings; the byte before each one is its length */
    size_t most;               /* limit for the bytes of all spellings together */
    unsigned steps;
    bool too_much;
};

static bool is_found(const struct search *search, const char *text, size_t len) {
    size_t at = 0;
    while (at < search->found.len) {
        const char *other = search->found.data + at;
        size_t other_len = (unsigned char)*other;
        if (other_len == len && memcmp(other + 1, text, len) == 0)
            return true;
        at += 1 + other_len;
    }
    return false;
}

static void add_if_it_folds(struct search *search, size_t len) {
    char folded[BS_FOLD_ROOM(MOST_BYTES)];
    size_t folded_len = 0;
    /* bs_fold cannot fail here: it allocates no memory for such a short text. */
    (void)bs_fold(search->spelling, len, folded, &folded_len);
    if (folded_len != search->wanted_len || memcmp(folded, search->wanted, folded_len) != 0 ||
        is_found(search, search->spelling, len))
        return;
    bs_buf_char(&search->found, (char)len);
    bs_buf_add(&search->found, search->spelling, len);
    search->too_much |= search->found.len > search->most || search->found.failed;
}

/* True if part i may come next in a spelling. Marks of different classes may change places, but
 * letters, and marks of the same class, keep their order. */
static bool may_be_next(const struct search *search, size_t i) {
    if ((search->used >> i & 1) != 0)
        return false;
    for (size_t j = 0; j < i; j++) {
        if ((search->used >> j & 1) != 0 || may_stand_anywhere(search->parts[i]) ||
            may_stand_anywhere(search->parts[j]))
            continue;
        if (search->classes[i] == 0 || search->classes[j] == 0 ||
            search->classes[i] == search->classes[j])
            return false;
    }
    return true;
}

static void extend(struct search *search, size_t len);

/* If no part of the code point's key is used yet, append the code point and continue the search. */
static void try_point(struct search *search, size_t len, uint32_t point, const uint32_t *key,
                      size_t n) {
    uint32_t before = search->used;
    bool fits = true;
    for (size_t k = 0; k < n && fits; k++) {
        size_t i = 0;
        while (i < search->n && !(search->parts[i] == key[k] && may_be_next(search, i)))
            i++;
        fits = i < search->n;
        if (fits)
            search->used |= UINT32_C(1) << i;
    }
    if (fits)
        extend(search, len + (size_t)utf8proc_encode_char((int32_t)point,
                                                          (uint8_t *)search->spelling + len));
    search->used = before;
}

/* Try Hangul syllables. The rows do not have them, because syllables are composed by arithmetic. */
static void try_hangul(struct search *search, size_t len, size_t first) {
    for (size_t n = 2; n <= 3 && first + n <= search->n; n++) {
        int32_t points[3];
        for (size_t i = 0; i < n; i++)
            points[i] = (int32_t)search->parts[first + i];
        if (utf8proc_normalize_utf32(points, (utf8proc_ssize_t)n, UTF8PROC_COMPOSE) == 1)
            try_point(search, len, (uint32_t)points[0], search->parts + first, n);
    }
}

static const struct bs_unfold_row *rows_from(const struct bs_unfold *unfold, uint32_t part) {
    size_t low = 0;
    size_t high = unfold->n_rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (unfold->rows[middle].key[0] < part)
            low = middle + 1;
        else
            high = middle;
    }
    return unfold->rows + low;
}

static void extend(struct search *search, size_t len) {
    if (search->too_much || ++search->steps > MOST_STEPS) {
        search->too_much = true;
        return;
    }
    if (search->used == (UINT32_C(1) << search->n) - 1) {
        add_if_it_folds(search, len);
        return;
    }
    const struct bs_unfold_row *end = search->unfold->rows + search->unfold->n_rows;
    for (size_t i = 0; i < search->n; i++) {
        uint32_t part = search->parts[i];
        if (!may_be_next(search, i))
            continue;
        try_point(search, len, part, &part, 1);
        const struct bs_unfold_row *row = rows_from(search->unfold, part);
        for (; row < end && row->key[0] == part; row++) {
            size_t n = 1;
            while (n < BS_UNFOLD_KEY && row->key[n] != 0)
                n++;
            try_point(search, len, row->point, row->key, n);
        }
        if (part >= 0x1100 && part <= 0x1112)
            try_hangul(search, len, i);
    }
}

/* Split the cluster into its parts. Returns false if there are too many. */
static bool decompose_cluster(struct search *search) {
    for (size_t at = 0; at < search->wanted_len;) {
        int32_t point = 0;
        uint32_t parts[BS_UNFOLD_KEY];
        at += (size_t)utf8proc_iterate((const uint8_t *)search->wanted + at,
                                       (utf8proc_ssize_t)(search->wanted_len - at), &point);
        size_t n = bs_unfold_decompose((uint32_t)point, parts);
        if (search->n + n > MOST_PARTS)
            return false;
        for (size_t i = 0; i < n; i++) {
            search->classes[search->n] =
                (uint8_t)utf8proc_get_property((int32_t)parts[i])->combining_class;
            search->parts[search->n++] = bs_unfold_loose(parts[i]);
        }
    }
    return true;
}

struct spelling {
    const char *text;
    size_t len;
};

static int by_bytes(const void *a, const void *b) {
    const struct spelling *x = a;
    const struct spelling *y = b;
    int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

/* Sort the spellings: first the folded one, then the others by their bytes. So the text does not
 * depend on the order of the search. */
static struct spelling *in_order(const struct search *search, size_t *n) {
    const char *at = search->found.data;
    const char *end = at + search->found.len;
    struct spelling *spellings = calloc(search->found.len + 1, sizeof *spellings);
    *n = 0;
    if (spellings == NULL)
        return NULL;
    for (; at < end; at += 1 + (unsigned char)*at)
        spellings[(*n)++] = (struct spelling){at + 1, (unsigned char)*at};
    qsort(spellings, *n, sizeof *spellings, by_bytes);
    for (size_t i = 0; i < *n; i++) {
        struct spelling folded = spellings[i];
        if (folded.len != search->wanted_len ||
            memcmp(folded.text, search->wanted, folded.len) != 0)
            continue;
        memmove(spellings + 1, spellings, i * sizeof *spellings);
        spellings[0] = folded;
        break;
    }
    return spellings;
}

static void put_all(const struct spelling *spellings, size_t n, struct bs_buf *out) {
    if (n == 1) {
        bs_spell_pattern(out, spellings[0].text, spellings[0].len);
        return;
    }
    /* if each spelling is one byte, all of them are letters, and one bracket expression suffices */
    bool class = true;
    for (size_t i = 0; i < n; i++)
        class &= spellings[i].len == 1;
    bs_buf_char(out, class ? '[' : '(');
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && !class)
            bs_buf_char(out, '|');
        bs_spell_pattern(out, spellings[i].text, spellings[i].len);
    }
    bs_buf_char(out, class ? ']' : ')');
}

bool bs_spellings_put(const struct bs_unfold *unfold, const char *cluster, size_t len, size_t most,
                      struct bs_buf *out) {
    struct search search = {.unfold = unfold, .wanted = cluster, .wanted_len = len, .most = most};
    size_t start = out->len;
    size_t n = 0;
    bool good = decompose_cluster(&search);
    if (good)
        extend(&search, 0);
    out->failed |= search.found.failed;
    good = good && !search.too_much && !out->failed;
    struct spelling *spellings = good ? in_order(&search, &n) : NULL;
    out->failed |= good && spellings == NULL;
    if (spellings != NULL)
        put_all(spellings, n, out);
    free(spellings);
    bs_buf_clear(&search.found);
    return good && !out->failed && out->len - start <= most;
}
