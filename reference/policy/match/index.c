#include "policy/match/index.h"

#include <string.h>

#include "base/word.h"
#include "policy/match/backtrack.h"

enum { MARKED = 64, LONGEST_COUNTED = 31 };

/* The state of the search for one path. */
struct search {
    const struct bs_index *index;
    const char *path;
    size_t len;
    /* for the first MARKED bytes: bit i is set if byte i of the path is a slash */
    uint64_t slashes;
    uint64_t bytes; /* bs_bytes_of the path; 0 if it is not computed yet */
    int32_t best;
};

static inline void lift(struct search *search, int32_t rule) {
    if (rule > search->best)
        search->best = rule;
}

/* Try the candidates of a bucket. `from` is the position in the path at which their globs begin. */
static void try_candidates(struct search *search, const struct bs_bucket *bucket, size_t from) {
    const struct bs_candidate *candidate = search->index->candidates + bucket->first;
    const struct bs_candidate *end = candidate + bucket->n;
    if (search->bytes == 0)
        search->bytes = bs_bytes_of(search->path, search->len);
    for (; candidate < end && candidate->rule > search->best; candidate++) {
        if ((candidate->bytes & ~search->bytes) == 0 &&
            bs_backtrack_matches(&candidate->glob, search->path + from, search->len - from))
            search->best = candidate->rule;
    }
}

/* Not inlined. Otherwise the caller would save registers even for look-ups that find no bucket. */
__attribute__((noinline)) static void ask_bucket(struct search *search, enum bs_key_kind kind,
                                                 uint32_t hash, size_t start, size_t end) {
    const struct bs_slot *slot =
        bs_table_look(&search->index->keys[kind], hash, search->path + start, end - start);
    if (slot == NULL)
        return;
    const struct bs_bucket *bucket = &search->index->buckets[slot->first];
    size_t from = bs_key_rest(kind, start, end);
    lift(search, bucket->inside);
    if (end == search->len)
        lift(search, bucket->last);
    if (bucket->n > 0 && from < search->len)
        try_candidates(search, bucket, from);
}

/* Look up the bytes [start, end) of the path as a key. */
static inline void look_up(struct search *search, enum bs_key_kind kind, uint64_t hash,
                           size_t start, size_t end) {
    uint64_t bit = 0;
    if ((*bs_table_seen(&search->index->keys[kind], (uint32_t)hash, &bit) & bit) != 0)
        ask_bucket(search, kind, (uint32_t)hash, start, end);
}

static inline bool has_length(uint32_t lengths, size_t len) {
    return (lengths >> (len < LONGEST_COUNTED ? len : LONGEST_COUNTED) & 1) != 0;
}

/* Return the same hash as bs_table_hash, for a text of at most one word. */
static inline uint64_t hash_of_word(uint64_t seed, uint64_t word, size_t len) {
    return len < BS_WORD_BYTES ? bs_table_finish(seed, seed, word, len)
                               : bs_table_finish(seed, bs_table_step(seed, seed, word), 0, len);
}

/* Return the same hash as bs_table_hash, for a part of the path. */
static inline uint64_t hash_of_part(const struct search *search, size_t start, size_t end) {
    uint64_t seed = search->index->seed;
    uint64_t state = seed;
    size_t at = start;
    for (; end - at >= BS_WORD_BYTES; at += BS_WORD_BYTES)
        state = bs_table_step(seed, state, bs_word_at(search->path + at));
    return bs_table_finish(seed, state, bs_word_part(search->path, search->len, at, end - at),
                           end - start);
}

static uint64_t slashes_of(const char *text, size_t len) {
    uint64_t slashes = 0;
    size_t at = 0;
    for (; len - at >= BS_WORD_BYTES; at += BS_WORD_BYTES)
        slashes |= bs_word_bits(bs_word_equal(bs_word_at(text + at), '/')) << at;
    if (at < len)
        slashes |= bs_word_bits(bs_word_equal(bs_word_rest(text, len), '/')) << at;
    return slashes;
}

/* Return the end of the segment that begins at `start`. */
static inline size_t segment_end(const struct search *search, size_t start) {
    size_t at = start;
    if (at < MARKED) {
        uint64_t slashes = search->slashes >> at;
        if (slashes != 0)
            return at + (size_t)__builtin_ctzll(slashes);
        at = MARKED;
    }
    const char *slash = at < search->len ? memchr(search->path + at, '/', search->len - at) : NULL;
    return slash != NULL ? (size_t)(slash - search->path) : search->len;
}

static void look_up_endings(struct search *search) {
    const struct bs_index *index = search->index;
    uint32_t lengths = index->by_byte[(unsigned char)search->path[search->len - 1]].endings;
    if (lengths == 0)
        return;
    size_t n = search->len < BS_WORD_BYTES ? search->len : BS_WORD_BYTES;
    uint64_t word = bs_word_part(search->path, search->len, search->len - n, n)
                    << 8 * (BS_WORD_BYTES - n);
    for (; lengths != 0; lengths &= lengths - 1) {
        size_t len = (size_t)__builtin_ctz(lengths);
        if (len > search->len)
            return;
        uint64_t hash = hash_of_word(index->seed, word >> 8 * (BS_WORD_BYTES - len), len);
        look_up(search, BS_KEY_ENDING, hash, search->len - len, search->len);
    }
}

/* Look up each leading part of the path. Its hash is computed from the hash of the next shorter
 * part. */
static void look_up_tops(struct search *search) {
    const struct bs_index *index = search->index;
    uint64_t seed = index->seed;
    uint64_t state = seed;
    size_t at = 0;
    size_t end = segment_end(search, 0);
    if (!has_length(index->by_byte[(unsigned char)search->path[0]].tops, end))
        return;
    for (;; end = segment_end(search, end + 1)) {
        for (; end - at >= BS_WORD_BYTES; at += BS_WORD_BYTES)
            state = bs_table_step(seed, state, bs_word_at(search->path + at));
        uint64_t part = bs_word_part(search->path, search->len, at, end - at);
        look_up(search, BS_KEY_TOP, bs_table_finish(seed, state, part, end), 0, end);
        if (end == search->len)
            return;
    }
}

static void look_up_heads(struct search *search, uint32_t lengths, size_t start, size_t end) {
    size_t n = end - start < BS_WORD_BYTES ? end - start : BS_WORD_BYTES;
    uint64_t word = bs_word_part(search->path, search->len, start, n);
    for (; lengths != 0; lengths &= lengths - 1) {
        size_t len = (size_t)__builtin_ctz(lengths);
        if (len > n)
            return;
        size_t above = 8 * (BS_WORD_BYTES - len);
        look_up(search, BS_KEY_HEAD, hash_of_word(search->index->seed, word << above >> above, len),
                start, start + len);
    }
}

static void look_up_names(struct search *search) {
    for (size_t start = 0; start < search->len;) {
        size_t end = segment_end(search, start);
        const struct bs_key_lengths *by =
            &search->index->by_byte[(unsigned char)search->path[start]];
        if (has_length(by->names, end - start))
            look_up(search, BS_KEY_NAME, hash_of_part(search, start, end), start, end);
        if (by->heads != 0)
            look_up_heads(search, by->heads, start, end);
        start = end + 1;
    }
}

int32_t bs_index_highest(const struct bs_index *index, const struct bs_path_view *path,
                         int32_t best) {
    struct search search = {index, path->text, path->len, path->marks.slashes, 0, best};
    lift(&search, index->all);
    if (path->len == 0) {
        lift(&search, index->root);
        return search.best;
    }
    if (index->most <= search.best)
        return search.best;
    if (!path->marks.known)
        search.slashes = slashes_of(path->text, path->len < MARKED ? path->len : MARKED);
    if (index->buckets[0].n > 0)
        try_candidates(&search, &index->buckets[0], 0);
    look_up_endings(&search);
    look_up_tops(&search);
    if (index->keys[BS_KEY_NAME].slots != NULL || index->keys[BS_KEY_HEAD].slots != NULL)
        look_up_names(&search);
    return search.best;
}
