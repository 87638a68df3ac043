#include <stdlib.h>
#include <string.h>

#include "policy/match/matcher.h"
#include "policy/match/wild_keys.h"
#include "policy/match/wilds.h"

enum { FEW = 8 }; /* wildcards of a node that are tried one by one */

static bool is_wild(char c) { return c == '*' || c == '?'; }

/* The literal pieces of a glob: the two at its ends, and the longest. */
struct pieces {
    size_t start;
    size_t end;
    size_t longest_at;
    size_t longest;
    size_t stars;
    bool asks;
};

static struct pieces pieces_of(const char *glob, size_t len) {
    struct pieces pieces = {0};
    size_t begin = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && !is_wild(glob[i]))
            continue;
        if (begin == 0)
            pieces.start = i;
        if (i == len)
            pieces.end = len - begin;
        if (i - begin > pieces.longest) {
            pieces.longest = i - begin;
            pieces.longest_at = begin;
        }
        begin = i + 1;
        if (i < len) {
            pieces.stars += glob[i] == '*';
            pieces.asks = pieces.asks || glob[i] == '?';
        }
    }
    return pieces;
}

static uint64_t first_mask(size_t len) {
    return len < 8 ? (UINT64_C(1) << 8 * len) - 1 : ~UINT64_C(0);
}

static uint64_t last_mask(size_t len) {
    return len == 0 ? 0 : len < 8 ? ~UINT64_C(0) << 8 * (8 - len) : ~UINT64_C(0);
}

/* One that is being put in order. */
struct draft {
    uint32_t from;
    uint32_t kind;
    uint64_t piece;
    const char *glob;
    size_t glob_len;
    struct pieces pieces;
    uint32_t sharers[2]; /* of the piece at the start, and of the one at the end */
    struct bs_wild wild;
};

static int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_keys(const struct draft *a, const struct draft *b) {
    int order = compare(a->from, b->from);
    if (order == 0)
        order = compare(a->kind, b->kind);
    return order != 0 ? order : compare(a->piece, b->piece);
}

static int in_order(const void *a, const void *b) {
    const struct draft *one = a;
    const struct draft *two = b;
    int order = compare_keys(one, two);
    return order != 0 ? order : compare((uint32_t)two->wild.most, (uint32_t)one->wild.most);
}

static void draw(struct draft *draft, const struct bs_trie_node *nodes, uint32_t to,
                 uint32_t lengths, const struct bs_names *names) {
    const struct bs_trie_node *node = &nodes[to];
    size_t len = node->id >> 1;
    const char *glob = names->texts + names->text_at[to];
    struct pieces pieces = pieces_of(glob, len);
    struct bs_wild_text text = bs_wild_text_of(glob, len, node->first, node->last);
    size_t inner = pieces.end > BS_WILD_LONG ? 8 : pieces.end > 8 ? pieces.end - 8 : 0;
    size_t least = len - pieces.stars;
    *draft = (struct draft){.from = node->from, .glob = glob, .glob_len = len, .pieces = pieces};
    draft->wild =
        (struct bs_wild){.first = text.first & first_mask(pieces.start),
                         .first_mask = first_mask(pieces.start),
                         .last = text.last & last_mask(pieces.end),
                         .last_mask = last_mask(pieces.end),
                         .inner = (inner > 0 ? bs_wild_inner(glob, len) : 0) & last_mask(inner),
                         .inner_mask = last_mask(inner),
                         .to = to,
                         .most = node->most,
                         .lengths = lengths,
                         .least = (uint16_t)(least < UINT16_MAX ? least : UINT16_MAX),
                         .is_told = pieces.stars == 1 && !pieces.asks && pieces.start <= 8 &&
                                    pieces.end <= BS_WILD_LONG};
}

/* By a piece at an end, or from there on. */
static void key_by(struct draft *draft, enum bs_wild_side side) {
    const struct pieces *pieces = &draft->pieces;
    size_t len = side == BS_WILD_START ? pieces->start
                 : side == BS_WILD_END ? pieces->end
                                       : pieces->longest;
    size_t most = BS_WILD_MOST_ANYWHERE;
    if (side == BS_WILD_START || side == BS_WILD_END)
        most = len >= BS_WILD_LONG ? BS_WILD_LONG : 8;
    len = len < most ? len : most;
    draft->kind = bs_wild_kind(len == 0 ? BS_WILD_NOWHERE : side, len);
    draft->piece = 0;
    if (len == 0)
        return;
    if (side == BS_WILD_START)
        draft->piece = len == BS_WILD_LONG ? bs_wild_long_start(draft->glob)
                                           : bs_wild_start(draft->wild.first, len);
    else if (side == BS_WILD_END)
        draft->piece = len == BS_WILD_LONG ? bs_wild_long_end(draft->glob, draft->glob_len)
                                           : bs_wild_end(draft->wild.last, len);
    else
        draft->piece = bs_wild_window(draft->glob + pieces->longest_at, len, len);
}

static uint32_t same_from(const struct draft *drafts, uint32_t at, uint32_t n) {
    uint32_t end = at + 1;
    while (end < n && compare_keys(&drafts[end], &drafts[at]) == 0)
        end++;
    return end - at;
}

/* How many of a node have the same piece at this end. */
static void count_sharers(struct draft *drafts, uint32_t n, enum bs_wild_side side) {
    for (uint32_t i = 0; i < n; i++)
        key_by(&drafts[i], side);
    qsort(drafts, n, sizeof *drafts, in_order);
    for (uint32_t i = 0, same = 0; i < n; i += same) {
        same = same_from(drafts, i, n);
        for (uint32_t k = i; k < i + same; k++) {
            const struct pieces *pieces = &drafts[k].pieces;
            size_t len = side == BS_WILD_START ? pieces->start : pieces->end;
            drafts[k].sharers[side] = len > 0 ? same : UINT32_MAX;
        }
    }
}

/* By the piece, of the two at its ends, that fewer others of the node have. */
static void choose_keys(struct draft *drafts, uint32_t n) {
    count_sharers(drafts, n, BS_WILD_START);
    count_sharers(drafts, n, BS_WILD_END);
    for (uint32_t i = 0; i < n; i++) {
        const struct pieces *pieces = &drafts[i].pieces;
        const uint32_t *sharers = drafts[i].sharers;
        if (pieces->start + pieces->end == 0 && pieces->longest > 0)
            key_by(&drafts[i], BS_WILD_ANYWHERE);
        else
            key_by(&drafts[i],
                   sharers[BS_WILD_START] <= sharers[BS_WILD_END] ? BS_WILD_START : BS_WILD_END);
    }
}

/* Sorts those of nodes that have many by keys, and all by their nodes. */
static void put_in_order(struct draft *drafts, uint32_t n) {
    qsort(drafts, n, sizeof *drafts, in_order);
    for (uint32_t i = 0, same = 0; i < n; i += same) {
        same = same_from(drafts, i, n);
        if (same <= FEW)
            continue;
        choose_keys(drafts + i, same);
        qsort(drafts + i, same, sizeof *drafts, in_order);
    }
}

static bool file(struct bs_wilds *wilds, const struct bs_wild_key *key) {
    uint64_t hash = bs_wild_hash(key->run, key->kind, key->piece);
    wilds->filter[hash >> wilds->filter_shift] |= bs_wild_filter_mask(hash);
    for (uint32_t probe = 0; probe < BS_NAMES_MOST_PROBES; probe++) {
        uint64_t at = ((hash >> wilds->shift) + probe) & (wilds->n_slots - 1);
        if (wilds->slots[at].n == 0) {
            wilds->slots[at] = *key;
            return true;
        }
    }
    return false;
}

/* All keys, in the order of what they find. */
struct keys {
    struct bs_wild_key *items;
    uint32_t n;
};

/* Pieces of one byte are looked for always. */
static void tell_length(struct bs_wilds *wilds, struct bs_wild_run *run,
                        const struct draft *draft) {
    uint32_t side = draft->kind & 3;
    if (side == BS_WILD_NOWHERE) {
        run->has_others = true;
        return;
    }
    uint16_t length = (uint16_t)(1U << ((draft->kind >> 2) - 1));
    bool is_short = length <= BS_WILD_SHORT_LENGTHS;
    if (side == BS_WILD_START) {
        run->starts |= length;
        wilds->lengths->starts[bs_wild_outer_start(draft->wild.first, is_short)] |= length;
    } else if (side == BS_WILD_END) {
        run->ends |= length;
        wilds->lengths->ends[bs_wild_outer_end(draft->wild.last, is_short)] |= length;
    } else {
        run->anywhere |= length;
    }
}

static void add_run(struct bs_wilds *wilds, struct keys *keys, const struct draft *drafts,
                    uint32_t first, uint32_t n) {
    struct bs_wild_run *run = &wilds->runs[wilds->n_runs];
    *run = (struct bs_wild_run){.first = first, .n = n, .has_keys = n > FEW};
    for (uint32_t i = first; i < first + n; i++) {
        run->lengths |= drafts[i].wild.lengths;
        wilds->items[i] = drafts[i].wild;
    }
    for (uint32_t i = first, same = 0; run->has_keys && i < first + n; i += same) {
        same = same_from(drafts, i, first + n);
        const struct draft *draft = &drafts[i];
        tell_length(wilds, run, draft);
        keys->items[keys->n++] =
            (struct bs_wild_key){draft->piece, wilds->n_runs, draft->kind, i, same};
    }
    wilds->n_runs++;
}

static bool reserve(struct bs_wilds *wilds, uint32_t n) {
    wilds->items_block = malloc((n + 1) * sizeof *wilds->items);
    wilds->runs = malloc((n + 1) * sizeof *wilds->runs);
    wilds->lengths = calloc(1, sizeof *wilds->lengths);
    if (wilds->items_block == NULL || wilds->runs == NULL || wilds->lengths == NULL)
        return false;
    uintptr_t block = (uintptr_t)wilds->items_block;
    wilds->items = (void *)((char *)wilds->items_block + (BS_TRIE_LINE - block % BS_TRIE_LINE));
    wilds->n = n;
    wilds->runs[0] = (struct bs_wild_run){0};
    wilds->n_runs = 1;
    return true;
}

static enum bs_names_result file_keys(struct bs_wilds *wilds, const struct keys *keys) {
    uint32_t bits = 6;
    if (keys->n == 0)
        return BS_NAMES_OK;
    while (UINT32_C(1) << bits < 2 * keys->n)
        bits++;
    wilds->n_slots = UINT32_C(1) << bits;
    wilds->shift = 64 - bits;
    wilds->filter_shift = 64 - bits + BS_WILD_FEWER_BITS;
    wilds->slots = calloc(wilds->n_slots, sizeof *wilds->slots);
    wilds->filter = calloc(wilds->n_slots >> BS_WILD_FEWER_BITS, sizeof *wilds->filter);
    if (wilds->slots == NULL || wilds->filter == NULL)
        return BS_NAMES_NO_MEMORY;
    for (uint32_t i = 0; i < keys->n; i++) {
        if (!file(wilds, &keys->items[i]))
            return BS_NAMES_COLLIDE;
    }
    return BS_NAMES_OK;
}

enum bs_names_result bs_wilds_build(struct bs_wilds *wilds, struct bs_trie_node *nodes,
                                    uint32_t n_nodes, const uint32_t *lengths,
                                    const struct bs_names *names) {
    uint32_t n = 0;
    for (uint32_t i = 1; i < n_nodes; i++)
        n += nodes[i].id & 1;
    if (n == 0)
        return BS_NAMES_OK;
    struct draft *drafts = malloc(n * sizeof *drafts);
    enum bs_names_result result = BS_NAMES_NO_MEMORY;
    struct keys keys = {malloc(n * sizeof *keys.items), 0};
    if (drafts == NULL || keys.items == NULL || !reserve(wilds, n))
        goto finish;
    n = 0;
    for (uint32_t i = 1; i < n_nodes; i++) {
        if ((nodes[i].id & 1) != 0)
            draw(&drafts[n++], nodes, i, lengths[i], names);
    }
    put_in_order(drafts, n);
    for (uint32_t i = 0, end = 0; i < n; i = end) {
        for (end = i + 1; end < n && drafts[end].from == drafts[i].from;)
            end++;
        nodes[drafts[i].from].wild = wilds->n_runs;
        add_run(wilds, &keys, drafts, i, end - i);
    }
    result = file_keys(wilds, &keys);
finish:
    free(keys.items);
    free(drafts);
    return result;
}
