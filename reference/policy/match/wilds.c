#include "policy/match/wilds.h"

#include <stdlib.h>
#include <string.h>

#include "policy/match/wild_keys.h"

void bs_wilds_clear(struct bs_wilds *wilds) {
    free(wilds->items_block);
    free(wilds->runs);
    free(wilds->slots);
    free(wilds->filter);
    free(wilds->lengths);
    *wilds = (struct bs_wilds){0};
}

size_t bs_wilds_bytes(const struct bs_wilds *wilds) {
    return wilds->n == 0 ? 0
                         : sizeof *wilds->lengths +
                               (wilds->n + 1) * (sizeof *wilds->items + sizeof *wilds->runs) +
                               wilds->n_slots * sizeof *wilds->slots +
                               (wilds->n_slots >> BS_WILD_FEWER_BITS) * sizeof *wilds->filter;
}

bool bs_wild_takes_all(const struct bs_wild *wild, const struct bs_trie_node *nodes,
                       const struct bs_names *names, const struct bs_wild_text *text) {
    if (wild->inner_mask != 0 && text->len >= BS_WILD_LONG) {
        if (((wild->inner ^ bs_wild_inner(text->text, text->len)) & wild->inner_mask) != 0)
            return false;
        if (wild->is_told)
            return true;
    }
    return bs_wild_matches(names->texts + names->text_at[wild->to], nodes[wild->to].id >> 1,
                           text->text, text->len);
}

/* What a search works on. */
struct search {
    const struct bs_wilds *wilds;
    uint32_t run;
    uint64_t *seen; /* NULL: a piece can be at one place only */
    void (*found)(void *context, uint32_t first, uint32_t n);
    void *context;
};

static bool was_seen(const struct search *search, uint32_t key) {
    if (search->seen == NULL)
        return false;
    uint64_t bit = UINT64_C(1) << key % 64;
    bool was = (search->seen[key / 64] & bit) != 0;
    search->seen[key / 64] |= bit;
    return was;
}

__attribute__((noinline)) static void look_up(const struct search *search, uint32_t kind,
                                              uint64_t piece, uint64_t hash) {
    const struct bs_wilds *wilds = search->wilds;
    for (uint32_t probe = 0; probe < BS_NAMES_MOST_PROBES; probe++) {
        uint32_t at = ((uint32_t)(hash >> wilds->shift) + probe) & (wilds->n_slots - 1);
        const struct bs_wild_key *key = &wilds->slots[at];
        if (key->n == 0)
            return;
        if (key->piece != piece || key->run != search->run || key->kind != kind)
            continue;
        if (!was_seen(search, at))
            search->found(search->context, key->first, key->n);
        return;
    }
}

static inline void try_piece(const struct search *search, uint32_t kind, uint64_t piece) {
    uint64_t hash = bs_wild_hash(search->run, kind, piece);
    uint64_t word = search->wilds->filter[hash >> search->wilds->filter_shift];
    if ((word >> (hash >> 34 & 63) & word >> (hash >> 28 & 63) & 1) != 0)
        look_up(search, kind, piece, hash);
}

static void try_anywhere(const struct search *search, uint32_t lengths,
                         const struct bs_wild_text *text) {
    memset(search->seen, 0, (search->wilds->n_slots / 64 + 1) * sizeof *search->seen);
    for (; lengths != 0; lengths &= lengths - 1) {
        size_t len = (size_t)__builtin_ctz(lengths) + 1;
        for (size_t at = 0; at + len <= text->len; at++)
            try_piece(search, bs_wild_kind(BS_WILD_ANYWHERE, len),
                      bs_wild_window(text->text + at, text->len - at, len));
    }
}

/* What few have: pieces of more than a word, none, or one that may be anywhere. */
__attribute__((noinline)) static void try_rest(struct search *search, uint32_t starts,
                                               uint32_t ends, const struct bs_wild_text *text,
                                               uint64_t *seen) {
    const struct bs_wild_run *run = &search->wilds->runs[search->run];
    if (starts > BS_WILD_BY_WORDS)
        try_piece(search, bs_wild_kind(BS_WILD_START, BS_WILD_LONG),
                  bs_wild_long_start(text->text));
    if (ends > BS_WILD_BY_WORDS)
        try_piece(search, bs_wild_kind(BS_WILD_END, BS_WILD_LONG),
                  bs_wild_long_end(text->text, text->len));
    if (run->has_others)
        try_piece(search, bs_wild_kind(BS_WILD_NOWHERE, 0), 0);
    search->seen = seen;
    if (run->anywhere != 0)
        try_anywhere(search, run->anywhere, text);
}

void bs_wilds_find(const struct bs_wilds *wilds, uint32_t run, const struct bs_wild_text *text,
                   uint64_t *seen, void (*found)(void *context, uint32_t first, uint32_t n),
                   void *context) {
    struct search search = {wilds, run, NULL, found, context};
    const struct bs_wild_run *of = &wilds->runs[run];
    uint64_t first = text->first;
    uint64_t last = text->last;
    const struct bs_wild_lengths *by = wilds->lengths;
    uint32_t fit = text->len < BS_WILD_LONG ? BS_WILD_BY_WORDS : UINT32_MAX;
    uint32_t starts = fit & of->starts &
                      bs_wild_lengths_of(by->starts[bs_wild_outer_start(first, true)],
                                         by->starts[bs_wild_outer_start(first, false)]);
    uint32_t ends = fit & of->ends &
                    bs_wild_lengths_of(by->ends[bs_wild_outer_end(last, true)],
                                       by->ends[bs_wild_outer_end(last, false)]);
    for (uint32_t lengths = starts & BS_WILD_BY_WORDS; lengths != 0; lengths &= lengths - 1) {
        uint32_t len = (uint32_t)__builtin_ctz(lengths) + 1;
        try_piece(&search, bs_wild_kind(BS_WILD_START, len), bs_wild_start(first, len));
    }
    for (uint32_t lengths = ends & BS_WILD_BY_WORDS; lengths != 0; lengths &= lengths - 1) {
        uint32_t len = (uint32_t)__builtin_ctz(lengths) + 1;
        try_piece(&search, bs_wild_kind(BS_WILD_END, len), bs_wild_end(last, len));
    }
    if ((starts | ends) > BS_WILD_BY_WORDS || of->anywhere != 0 || of->has_others)
        try_rest(&search, starts, ends, text, seen);
}
