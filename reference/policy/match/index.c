#include "policy/match/index.h"

#include <string.h>

#include "base/word.h"
#include "policy/match/backtrack.h"

enum { MARKED = 64, LONGEST_COUNTED = 31 };

/* One look at a path. */
struct look {
    const struct bs_index *index;
    const char *path;
    size_t len;
    uint64_t slashes; /* bit i: byte i of the path is one; of the first MARKED bytes */
    uint64_t bytes;   /* bs_bytes_of the path, once somebody wants it */
    int32_t best;
};

static inline void lift(struct look *look, int32_t rule) {
    if (rule > look->best)
        look->best = rule;
}

/* `from` is where the globs begin in the path. */
static void try_candidates(struct look *look, const struct bs_bucket *bucket, size_t from) {
    const struct bs_candidate *candidate = look->index->candidates + bucket->first;
    const struct bs_candidate *end = candidate + bucket->n;
    if (look->bytes == 0)
        look->bytes = bs_bytes_of(look->path, look->len);
    for (; candidate < end && candidate->rule > look->best; candidate++) {
        if ((candidate->bytes & ~look->bytes) == 0 &&
            bs_backtrack_matches(&candidate->glob, look->path + from, look->len - from))
            look->best = candidate->rule;
    }
}

/* Not inlined, so that the look-ups that find nothing stay in registers. */
__attribute__((noinline)) static void ask_bucket(struct look *look, enum bs_key_kind kind,
                                                 uint32_t hash, size_t start, size_t end) {
    const struct bs_slot *slot =
        bs_table_look(&look->index->keys[kind], hash, look->path + start, end - start);
    if (slot == NULL)
        return;
    const struct bs_bucket *bucket = &look->index->buckets[slot->first];
    size_t from = bs_key_rest(kind, start, end);
    lift(look, bucket->inside);
    if (end == look->len)
        lift(look, bucket->last);
    if (bucket->n > 0 && from < look->len)
        try_candidates(look, bucket, from);
}

/* The bytes [start, end) of the path, if they are a key. */
static inline void look_up(struct look *look, enum bs_key_kind kind, uint64_t hash, size_t start,
                           size_t end) {
    uint64_t bit = 0;
    if ((*bs_table_seen(&look->index->keys[kind], (uint32_t)hash, &bit) & bit) != 0)
        ask_bucket(look, kind, (uint32_t)hash, start, end);
}

static inline bool has_length(uint32_t lengths, size_t len) {
    return (lengths >> (len < LONGEST_COUNTED ? len : LONGEST_COUNTED) & 1) != 0;
}

/* Both as bs_table_hash has it: the hash of a text of at most a word, ... */
static inline uint64_t hash_of_word(uint64_t seed, uint64_t word, size_t len) {
    return len < BS_WORD_BYTES ? bs_table_finish(seed, seed, word, len)
                               : bs_table_finish(seed, bs_table_step(seed, seed, word), 0, len);
}

/* ... and that of a part of the path. */
static inline uint64_t hash_of_part(const struct look *look, size_t start, size_t end) {
    uint64_t seed = look->index->seed;
    uint64_t state = seed;
    size_t at = start;
    for (; end - at >= BS_WORD_BYTES; at += BS_WORD_BYTES)
        state = bs_table_step(seed, state, bs_word_at(look->path + at));
    return bs_table_finish(seed, state, bs_word_part(look->path, look->len, at, end - at),
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

/* Where the segment ends that begins here. */
static inline size_t segment_end(const struct look *look, size_t start) {
    size_t at = start;
    if (at < MARKED) {
        uint64_t slashes = look->slashes >> at;
        if (slashes != 0)
            return at + (size_t)__builtin_ctzll(slashes);
        at = MARKED;
    }
    const char *slash = at < look->len ? memchr(look->path + at, '/', look->len - at) : NULL;
    return slash != NULL ? (size_t)(slash - look->path) : look->len;
}

static void look_up_endings(struct look *look) {
    const struct bs_index *index = look->index;
    uint32_t lengths = index->by_byte[(unsigned char)look->path[look->len - 1]].endings;
    if (lengths == 0)
        return;
    size_t n = look->len < BS_WORD_BYTES ? look->len : BS_WORD_BYTES;
    uint64_t word = bs_word_part(look->path, look->len, look->len - n, n)
                    << 8 * (BS_WORD_BYTES - n);
    for (; lengths != 0; lengths &= lengths - 1) {
        size_t len = (size_t)__builtin_ctz(lengths);
        if (len > look->len)
            return;
        uint64_t hash = hash_of_word(index->seed, word >> 8 * (BS_WORD_BYTES - len), len);
        look_up(look, BS_KEY_ENDING, hash, look->len - len, look->len);
    }
}

/* The hash of each is made out of that of the one before. */
static void look_up_tops(struct look *look) {
    const struct bs_index *index = look->index;
    uint64_t seed = index->seed;
    uint64_t state = seed;
    size_t at = 0;
    size_t end = segment_end(look, 0);
    if (!has_length(index->by_byte[(unsigned char)look->path[0]].tops, end))
        return;
    for (;; end = segment_end(look, end + 1)) {
        for (; end - at >= BS_WORD_BYTES; at += BS_WORD_BYTES)
            state = bs_table_step(seed, state, bs_word_at(look->path + at));
        uint64_t part = bs_word_part(look->path, look->len, at, end - at);
        look_up(look, BS_KEY_TOP, bs_table_finish(seed, state, part, end), 0, end);
        if (end == look->len)
            return;
    }
}

static void look_up_heads(struct look *look, uint32_t lengths, size_t start, size_t end) {
    size_t n = end - start < BS_WORD_BYTES ? end - start : BS_WORD_BYTES;
    uint64_t word = bs_word_part(look->path, look->len, start, n);
    for (; lengths != 0; lengths &= lengths - 1) {
        size_t len = (size_t)__builtin_ctz(lengths);
        if (len > n)
            return;
        size_t above = 8 * (BS_WORD_BYTES - len);
        look_up(look, BS_KEY_HEAD, hash_of_word(look->index->seed, word << above >> above, len),
                start, start + len);
    }
}

static void look_up_names(struct look *look) {
    for (size_t start = 0; start < look->len;) {
        size_t end = segment_end(look, start);
        const struct bs_key_lengths *by = &look->index->by_byte[(unsigned char)look->path[start]];
        if (has_length(by->names, end - start))
            look_up(look, BS_KEY_NAME, hash_of_part(look, start, end), start, end);
        if (by->heads != 0)
            look_up_heads(look, by->heads, start, end);
        start = end + 1;
    }
}

int32_t bs_index_highest(const struct bs_index *index, const struct bs_path_view *path,
                         int32_t best) {
    struct look look = {index, path->text, path->len, path->marks.slashes, 0, best};
    lift(&look, index->all);
    if (path->len == 0) {
        lift(&look, index->root);
        return look.best;
    }
    if (index->most <= look.best)
        return look.best;
    if (!path->marks.known)
        look.slashes = slashes_of(path->text, path->len < MARKED ? path->len : MARKED);
    if (index->buckets[0].n > 0)
        try_candidates(&look, &index->buckets[0], 0);
    look_up_endings(&look);
    look_up_tops(&look);
    if (index->keys[BS_KEY_NAME].slots != NULL || index->keys[BS_KEY_HEAD].slots != NULL)
        look_up_names(&look);
    return look.best;
}
