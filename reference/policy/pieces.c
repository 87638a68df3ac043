#include "policy/pieces.h"

#include <stdlib.h>
#include <string.h>

static bool is_wild(char c) { return c == '*' || c == '?'; }

enum bs_anchor bs_piece_of(const char *glob, size_t len, size_t *at, size_t *piece_len) {
    size_t start = 0;
    *at = 0;
    *piece_len = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && !is_wild(glob[i]))
            continue;
        bool decides = start == 0 || i == len;
        if (i > start && (decides || i - start > *piece_len)) {
            *at = start;
            *piece_len = i - start;
        }
        if (i > start && decides)
            return start == 0 ? BS_ANCHOR_START : BS_ANCHOR_END;
        start = i + 1;
    }
    return *piece_len > 0 ? BS_ANCHOR_ANYWHERE : BS_ANCHOR_NONE;
}

/* One more byte of a piece. */
static inline uint64_t roll(uint64_t hash, char c) {
    return (hash + (unsigned char)c + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

/* Of up to four bytes at once, where a piece may be anywhere. */
static inline uint64_t window_hash(uint32_t bytes, size_t n) {
    uint64_t word = bytes & ((UINT64_C(1) << 8 * n) - 1);
    return (word + 1) * UINT64_C(0x9E3779B97F4A7C15) + n;
}

static inline uint32_t window(const char *text, size_t len) {
    uint32_t bytes = 0;
    if (len >= sizeof bytes)
        memcpy(&bytes, text, sizeof bytes);
    else
        for (size_t i = 0; i < len; i++)
            memcpy((char *)&bytes + i, text + i, 1);
    return bytes;
}

static uint64_t hash_of(const struct bs_pieces *pieces, const char *text, size_t len) {
    if (pieces->anchor == BS_ANCHOR_ANYWHERE)
        return window_hash(window(text, len),
                           len < BS_PIECE_HASHED_ANYWHERE ? len : BS_PIECE_HASHED_ANYWHERE);
    uint64_t hash = 0;
    for (size_t i = 0; i < len && i < BS_PIECE_HASHED; i++)
        hash = roll(hash, text[pieces->anchor == BS_ANCHOR_END ? len - 1 - i : i]);
    return hash;
}

static inline uint32_t head_of(const struct bs_pieces *pieces, uint64_t hash) {
    return (uint32_t)(hash >> 32) & (pieces->n_heads - 1);
}

/* The filters take other bits of the hash than the heads. */
static inline bool has(const uint64_t *filter, uint32_t bits, uint64_t hash) {
    uint32_t bit = (uint32_t)(hash >> 26) & (bits - 1);
    return (filter[bit / 64] >> bit % 64 & 1) != 0;
}

static void put(uint64_t *filter, uint32_t bits, uint64_t hash) {
    uint32_t bit = (uint32_t)(hash >> 26) & (bits - 1);
    filter[bit / 64] |= UINT64_C(1) << bit % 64;
}

static inline bool may_be(const struct bs_pieces *pieces, uint64_t hash) {
    return has(pieces->wholes, pieces->n_heads * 8, hash);
}

static inline bool may_begin(const struct bs_pieces *pieces, uint64_t hash) {
    return has(pieces->beginnings, pieces->n_heads * 64, hash);
}

static void file(struct bs_pieces *pieces, uint32_t piece) {
    struct bs_piece *item = &pieces->items[piece];
    const char *text = pieces->texts + item->at;
    uint64_t hash = hash_of(pieces, text, item->len);
    uint32_t head = head_of(pieces, hash);
    item->next = pieces->heads[head];
    pieces->heads[head] = piece + 1;
    put(pieces->wholes, pieces->n_heads * 8, hash);
    hash = 0;
    for (size_t i = 0; i < item->len && i < BS_PIECE_HASHED; i++) {
        hash = roll(hash, text[pieces->anchor == BS_ANCHOR_END ? item->len - 1 - i : i]);
        put(pieces->beginnings, pieces->n_heads * 64, hash);
    }
}

static bool grow_heads(struct bs_pieces *pieces) {
    if (pieces->n < pieces->n_heads)
        return true;
    uint32_t n = pieces->n_heads == 0 ? 64 : pieces->n_heads * 2;
    uint32_t *heads = calloc(n, sizeof *heads);
    uint64_t *wholes = calloc(n / 8, sizeof *wholes);
    uint64_t *beginnings = calloc(n, sizeof *beginnings);
    if (heads == NULL || wholes == NULL || beginnings == NULL) {
        free(heads);
        free(wholes);
        free(beginnings);
        return false;
    }
    free(pieces->heads);
    free(pieces->wholes);
    free(pieces->beginnings);
    pieces->heads = heads;
    pieces->wholes = wholes;
    pieces->beginnings = beginnings;
    pieces->n_heads = n;
    for (uint32_t i = 0; i < pieces->n; i++)
        file(pieces, i);
    return true;
}

static bool reserve(struct bs_pieces *pieces, size_t len) {
    if (pieces->n == pieces->cap) {
        uint32_t cap = pieces->cap == 0 ? 16 : pieces->cap * 2;
        struct bs_piece *grown = realloc(pieces->items, cap * sizeof *grown);
        if (grown == NULL)
            return false;
        pieces->items = grown;
        pieces->cap = cap;
    }
    if (pieces->texts_len + len > pieces->texts_cap) {
        size_t cap = (pieces->texts_len + len) * 2;
        char *grown = realloc(pieces->texts, cap);
        if (grown == NULL)
            return false;
        pieces->texts = grown;
        pieces->texts_cap = cap;
    }
    return grow_heads(pieces);
}

bool bs_pieces_add(struct bs_pieces *pieces, const char *text, size_t len, uint32_t *piece) {
    if (pieces->n_heads > 0) {
        uint32_t at = pieces->heads[head_of(pieces, hash_of(pieces, text, len))];
        for (; at != 0; at = pieces->items[at - 1].next) {
            const struct bs_piece *item = &pieces->items[at - 1];
            if (item->len == len && memcmp(pieces->texts + item->at, text, len) == 0) {
                *piece = at - 1;
                return true;
            }
        }
    }
    if (!reserve(pieces, len + 1))
        return false;
    uint32_t hashed =
        pieces->anchor == BS_ANCHOR_ANYWHERE ? BS_PIECE_HASHED_ANYWHERE : BS_PIECE_HASHED;
    if (len < hashed)
        hashed = (uint32_t)len;
    *piece = pieces->n++;
    pieces->items[*piece] = (struct bs_piece){.at = pieces->texts_len, .len = (uint32_t)len};
    memcpy(pieces->texts + pieces->texts_len, text, len);
    pieces->texts_len += len;
    pieces->lengths |= UINT32_C(1) << hashed;
    if (hashed > pieces->longest)
        pieces->longest = hashed;
    file(pieces, *piece);
    return true;
}

bool bs_pieces_add_candidate(struct bs_pieces *pieces, uint32_t piece, uint32_t glob) {
    if (pieces->n_candidates == pieces->cap_candidates) {
        uint32_t cap = pieces->cap_candidates == 0 ? 16 : pieces->cap_candidates * 2;
        struct bs_candidate *grown = realloc(pieces->candidates, cap * sizeof *grown);
        if (grown == NULL)
            return false;
        pieces->candidates = grown;
        pieces->cap_candidates = cap;
    }
    pieces->candidates[pieces->n_candidates++] =
        (struct bs_candidate){glob, pieces->items[piece].candidates};
    pieces->items[piece].candidates = pieces->n_candidates;
    return true;
}

void bs_pieces_clear(struct bs_pieces *pieces) {
    free(pieces->items);
    free(pieces->candidates);
    free(pieces->texts);
    free(pieces->heads);
    free(pieces->wholes);
    free(pieces->beginnings);
    *pieces = (struct bs_pieces){0};
}

size_t bs_pieces_bytes(const struct bs_pieces *pieces) {
    return pieces->cap * sizeof *pieces->items +
           pieces->cap_candidates * sizeof *pieces->candidates + pieces->texts_cap +
           pieces->n_heads * (sizeof *pieces->heads + 9);
}

/* What a search works on. */
struct search {
    const struct bs_pieces *pieces;
    const char *text;
    size_t len;
    uint64_t *seen; /* NULL: a piece can be at one place only */
    uint32_t unseen;
    void (*found)(void *context, uint32_t piece);
    void *context;
};

static bool was_seen(const struct search *search, uint32_t piece) {
    return search->seen != NULL && (search->seen[piece / 64] >> piece % 64 & 1) != 0;
}

/* `hashed` bytes have the hash of some piece. From `at` on, or up to it, it is compared. */
static void look_up(struct search *search, uint64_t hash, size_t hashed, size_t at) {
    const struct bs_pieces *pieces = search->pieces;
    size_t most = pieces->anchor == BS_ANCHOR_ANYWHERE ? BS_PIECE_HASHED_ANYWHERE : BS_PIECE_HASHED;
    for (uint32_t i = pieces->heads[head_of(pieces, hash)]; i != 0; i = pieces->items[i - 1].next) {
        const struct bs_piece *piece = &pieces->items[i - 1];
        if (piece->len != hashed && (piece->len < hashed || hashed < most))
            continue;
        bool from_end = pieces->anchor == BS_ANCHOR_END;
        if (piece->len > (from_end ? at : search->len - at))
            continue;
        if (was_seen(search, i - 1) || memcmp(search->text + (from_end ? at - piece->len : at),
                                              pieces->texts + piece->at, piece->len) != 0)
            continue;
        search->found(search->context, i - 1);
        search->unseen--;
        if (search->seen != NULL)
            search->seen[(i - 1) / 64] |= UINT64_C(1) << (i - 1) % 64;
    }
}

static void search_one_end(struct search *search, bool from_end) {
    const struct bs_pieces *pieces = search->pieces;
    size_t most = search->len < pieces->longest ? search->len : pieces->longest;
    uint64_t hash = 0;
    for (size_t i = 0; i < most; i++) {
        hash = roll(hash, search->text[from_end ? search->len - 1 - i : i]);
        if (!may_begin(pieces, hash))
            return;
        if (may_be(pieces, hash))
            look_up(search, hash, i + 1, from_end ? search->len : 0);
    }
}

static void search_anywhere(struct search *search) {
    const struct bs_pieces *pieces = search->pieces;
    memset(search->seen, 0, ((size_t)pieces->n + 63) / 64 * sizeof *search->seen);
    for (size_t n = 1; n <= BS_PIECE_HASHED_ANYWHERE; n++) {
        if ((pieces->lengths >> n & 1) == 0)
            continue;
        for (size_t at = 0; at + n <= search->len && search->unseen > 0; at++) {
            uint64_t hash = window_hash(window(search->text + at, search->len - at), n);
            if (may_be(pieces, hash))
                look_up(search, hash, n, at);
        }
    }
}

void bs_pieces_find(const struct bs_pieces *pieces, const char *text, size_t len, uint64_t *seen,
                    void (*found)(void *context, uint32_t piece), void *context) {
    struct search search = {pieces, text, len, NULL, pieces->n, found, context};
    if (pieces->n == 0)
        return;
    switch (pieces->anchor) {
    case BS_ANCHOR_START:
        search_one_end(&search, false);
        break;
    case BS_ANCHOR_END:
        search_one_end(&search, true);
        break;
    case BS_ANCHOR_ANYWHERE:
        search.seen = seen;
        search_anywhere(&search);
        break;
    default:
        found(context, 0); /* the empty piece */
        break;
    }
}
