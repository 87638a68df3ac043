#include "policy/trie.h"

#include <string.h>

#include "policy/segments.h"
#include "policy/wild.h"

/* One walk. The arrays are the walk's own stack frame and as long as the trie needs them. */
struct walk {
    const struct bs_trie *trie;
    int32_t best;
    bool last;      /* at the last segment */
    uint32_t *next; /* nodes that are reached by the segment */
    uint32_t n_next;
    uint32_t *gaps; /* nodes that stay alive */
    uint32_t n_gaps;
    uint64_t *marks; /* gaps that were entered */
};

struct owned_symbol {
    uint32_t symbol;
    uint32_t owner;
};

/* What a segment is, found out when the first node asks. */
struct reading {
    const struct bs_trie *trie;
    struct bs_segment segment;
    uint8_t known; /* BS_EDGES_... */
    bool has_extensions;
    uint32_t literal;
    uint32_t n_extensions;
    struct owned_symbol extensions[BS_TRIE_LONGEST_EXTENSION];
    struct owned_symbol *wild; /* those that match, of the anchors that are known */
    uint32_t n_wild;
    uint64_t *seen;        /* room for a bit for each piece */
    enum bs_anchor anchor; /* that is being read */
};

static void enter_gap(struct walk *walk, uint32_t gap) {
    const struct bs_trie_node *node = &walk->trie->nodes[gap];
    if (node->most <= walk->best)
        return;
    if (node->mark != 0) {
        uint64_t *word = &walk->marks[(node->mark - 1) / 64];
        uint64_t bit = UINT64_C(1) << (node->mark - 1) % 64;
        if ((*word & bit) != 0)
            return;
        *word |= bit;
    }
    walk->gaps[walk->n_gaps++] = gap;
}

static inline void arrive(struct walk *walk, uint32_t child) {
    const struct bs_trie_node *node = &walk->trie->nodes[child];
    if (node->most <= walk->best)
        return;
    if (node->below > walk->best)
        walk->best = node->below;
    if (walk->last) {
        if (node->rule > walk->best)
            walk->best = node->rule;
        return;
    }
    if (node->edges != 0)
        walk->next[walk->n_next++] = child;
    if (node->gap != 0)
        enter_gap(walk, node->gap);
}

static inline void follow(struct walk *walk, uint32_t node, uint32_t symbol, uint32_t owner) {
    if (owner != BS_MANY_OWNERS && owner != node + 1)
        return;
    uint32_t child = bs_edges_find(&walk->trie->edges, node, symbol);
    if (child != 0)
        arrive(walk, child);
}

static void read_extensions(const struct bs_trie *trie, struct reading *reading) {
    const struct bs_segment *segment = &reading->segment;
    size_t looked_at = segment->len < 64 ? segment->len : 64;
    if (reading->has_extensions)
        return;
    reading->has_extensions = true;
    reading->n_extensions = 0;
    for (uint64_t dots = segment->dots; dots != 0; dots &= dots - 1) {
        size_t len = looked_at - (size_t)__builtin_ctzll(dots);
        if (len > BS_TRIE_LONGEST_EXTENSION || (trie->extension_lengths >> len & 1) == 0)
            continue;
        uint32_t symbol = bs_symbols_find(&trie->symbols, BS_SYMBOL_EXTENSION,
                                          segment->text + segment->len - len, len);
        if (symbol != BS_NO_SYMBOL)
            reading->extensions[reading->n_extensions++] =
                (struct owned_symbol){symbol, trie->symbols.items[symbol].owner};
    }
}

static void take(struct reading *reading, uint32_t wild) {
    reading->wild[reading->n_wild++] =
        (struct owned_symbol){wild | BS_WILD_SYMBOL, reading->trie->wilds.items[wild].owner};
}

static void try_pairs(struct reading *reading, uint32_t piece) {
    const struct bs_trie *trie = reading->trie;
    read_extensions(trie, reading);
    size_t len = trie->pieces[BS_ANCHOR_START].items[piece].len;
    for (uint32_t i = 0; i < reading->n_extensions; i++) {
        uint32_t extension = reading->extensions[i].symbol;
        if (len + trie->symbols.items[extension].len > reading->segment.len)
            continue;
        uint32_t wild = bs_edges_find(&trie->pairs, piece, extension);
        if (wild != 0)
            take(reading, wild - 1);
    }
}

static void found_piece(void *context, uint32_t piece) {
    struct reading *reading = context;
    const struct bs_trie *trie = reading->trie;
    const struct bs_pieces *pieces = &trie->pieces[reading->anchor];
    if (pieces->items[piece].paired)
        try_pairs(reading, piece);
    uint32_t next = 0;
    for (uint32_t at = pieces->items[piece].candidates; at != 0; at = next) {
        uint32_t wild = pieces->candidates[at - 1].glob;
        next = pieces->candidates[at - 1].next;
        const struct bs_symbol *glob = &trie->wilds.items[wild];
        if (bs_wild_matches(trie->wilds.texts + glob->at, glob->len, reading->segment.text,
                            reading->segment.len))
            take(reading, wild);
    }
}

static void read_wild(struct reading *reading, unsigned anchors) {
    const struct bs_trie *trie = reading->trie;
    for (int anchor = 0; anchor < BS_ANCHORS; anchor++) {
        if ((anchors & 1U << anchor) == 0)
            continue;
        reading->anchor = (enum bs_anchor)anchor;
        bs_pieces_find(&trie->pieces[anchor], reading->segment.text, reading->segment.len,
                       reading->seen, found_piece, reading);
    }
}

static void step(struct walk *walk, struct reading *reading, uint32_t at) {
    const struct bs_trie *trie = walk->trie;
    const struct bs_trie_node *node = &trie->nodes[at];
    uint8_t unknown = (uint8_t)(node->edges & ~reading->known);
    reading->known |= node->edges;
    if ((unknown & BS_EDGES_LITERAL) != 0)
        reading->literal = bs_symbols_find(&trie->symbols, BS_SYMBOL_LITERAL, reading->segment.text,
                                           reading->segment.len);
    if ((unknown & BS_EDGES_EXTENSION) != 0)
        read_extensions(trie, reading);
    if ((unknown & BS_EDGES_WILD) != 0)
        read_wild(reading, unknown & BS_EDGES_WILD);
    if ((node->edges & BS_EDGES_LITERAL) != 0 && reading->literal != BS_NO_SYMBOL)
        follow(walk, at, reading->literal, trie->symbols.items[reading->literal].owner);
    if (node->star != 0)
        arrive(walk, node->star);
    if ((node->edges & BS_EDGES_EXTENSION) != 0) {
        for (uint32_t i = 0; i < reading->n_extensions; i++)
            follow(walk, at, reading->extensions[i].symbol, reading->extensions[i].owner);
    }
    if ((node->edges & BS_EDGES_WILD) != 0) {
        for (uint32_t i = 0; i < reading->n_wild; i++)
            follow(walk, at, reading->wild[i].symbol, reading->wild[i].owner);
    }
}

/* Gaps under which nothing is higher than the best have no more say. */
static void drop_beaten_gaps(struct walk *walk) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < walk->n_gaps; i++) {
        if (walk->trie->nodes[walk->gaps[i]].most > walk->best)
            walk->gaps[kept++] = walk->gaps[i];
    }
    walk->n_gaps = kept;
}

ptrdiff_t bs_trie_highest(const struct bs_trie *trie, const char *path, size_t len) {
    const struct bs_trie_node *root = &trie->nodes[0];
    if (len == 0)
        return root->rule > root->below ? root->rule : root->below;
    uint32_t arrays[3][trie->width];
    uint64_t marks[trie->n_marks / 64 + 1];
    uint64_t seen[trie->wilds.n / 64 + 1];
    struct owned_symbol wild[trie->wilds.n + 1];
    memset(marks, 0, sizeof marks);
    struct walk walk = {.trie = trie, .best = root->below, .gaps = arrays[2], .marks = marks};
    uint32_t n_now = 1;
    uint32_t turn = 0;
    arrays[0][0] = 0;
    if (root->gap != 0)
        enter_gap(&walk, root->gap);
    struct bs_segments segments;
    struct reading reading = {.trie = trie, .wild = wild, .seen = seen};
    bs_segments_start(&segments, path, len);
    while (n_now + walk.n_gaps > 0 && bs_segments_next(&segments, &reading.segment)) {
        const uint32_t *now = arrays[turn];
        turn = 1 - turn;
        walk.next = arrays[turn];
        walk.n_next = 0;
        walk.last = segments.at > len;
        reading.known = 0;
        reading.has_extensions = false;
        reading.n_wild = 0;
        /* Gaps that this segment enters begin at the next one. */
        uint32_t n_gaps = walk.n_gaps;
        for (uint32_t i = 0; i < n_now; i++) {
            if (trie->nodes[now[i]].most > walk.best)
                step(&walk, &reading, now[i]);
        }
        for (uint32_t i = 0; i < n_gaps; i++) {
            if (trie->nodes[walk.gaps[i]].most > walk.best)
                step(&walk, &reading, walk.gaps[i]);
        }
        drop_beaten_gaps(&walk);
        n_now = walk.n_next;
    }
    return walk.best;
}
