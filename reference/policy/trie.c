#include "policy/trie.h"

#include <string.h>

#include "policy/segments.h"
#include "policy/wild.h"

/* A symbol that a segment has, and where it is used. */
struct read_symbol {
    uint32_t symbol;
    struct bs_symbol_use use;
};

/* What a segment is, as far as any node asks. */
struct reading {
    bool has_extensions;
    const struct bs_symbol_slot *literal; /* NULL: no rule has this name */
    uint32_t n_extensions;
    uint32_t n_wild;
    struct read_symbol *wild; /* those that match, of the anchors that were asked */
    uint64_t *seen;           /* room for a bit for each piece */
    enum bs_anchor anchor;    /* that is being read */
    struct read_symbol extensions[BS_TRIE_LONGEST_EXTENSION];
};

/* What any of some nodes asks of a segment: BS_EDGES_... */
struct asked {
    unsigned through;
    unsigned ends;
};

/* One walk. The arrays are the walk's own stack frame and as long as the trie needs them. */
struct walk {
    const struct bs_trie *trie;
    const char *path;
    size_t len;
    int32_t best;
    bool last;      /* at the last segment */
    bool near_last; /* the next one may be the last */
    uint32_t *next; /* nodes that are reached by the segment */
    uint32_t n_next;
    struct asked next_asks;
    uint32_t *gaps; /* nodes that stay alive */
    uint32_t n_gaps;
    struct asked gaps_ask;
    uint64_t *marks; /* gaps that were entered */
    struct bs_segment segment;
    struct reading reading;
};

static inline void ask(struct asked *asked, const struct bs_trie_node *node) {
    asked->through |= node->through;
    asked->ends |= node->ends;
}

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
    ask(&walk->gaps_ask, node);
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
    if ((node->through | (walk->near_last ? node->ends : 0)) != 0) {
        walk->next[walk->n_next++] = child;
        ask(&walk->next_asks, node);
    }
    if (node->gap != 0)
        enter_gap(walk, node->gap);
}

static inline void follow(struct walk *walk, uint32_t node, uint32_t symbol,
                          struct bs_symbol_use use) {
    uint32_t child = use.child;
    if (use.owner == BS_MANY_OWNERS)
        child = bs_edges_find(&walk->trie->edges, node, symbol);
    else if (use.owner != node + 1)
        return;
    if (child != 0)
        arrive(walk, child);
}

static inline const struct bs_symbol_slot *find_end(const struct walk *walk,
                                                    enum bs_symbol_kind kind, size_t len) {
    size_t at = (size_t)(walk->segment.text - walk->path) + walk->segment.len - len;
    const struct bs_symbol_key key = bs_symbol_key(walk->path, walk->len, at, len);
    return bs_symbols_find(&walk->trie->symbols, kind, &key);
}

static void read_extensions(struct walk *walk) {
    struct reading *reading = &walk->reading;
    size_t looked_at = walk->segment.len < 64 ? walk->segment.len : 64;
    if (reading->has_extensions)
        return;
    reading->has_extensions = true;
    reading->n_extensions = 0;
    for (uint64_t dots = walk->segment.dots; dots != 0; dots &= dots - 1) {
        size_t len = looked_at - (size_t)__builtin_ctzll(dots);
        if (len > BS_TRIE_LONGEST_EXTENSION || (walk->trie->extension_lengths >> len & 1) == 0)
            continue;
        const struct bs_symbol_slot *slot = find_end(walk, BS_SYMBOL_EXTENSION, len);
        if (slot != NULL)
            reading->extensions[reading->n_extensions++] =
                (struct read_symbol){slot->symbol, slot->use};
    }
}

static void take(struct walk *walk, uint32_t wild) {
    walk->reading.wild[walk->reading.n_wild++] =
        (struct read_symbol){wild | BS_WILD_SYMBOL, walk->trie->wilds.items[wild].use};
}

static void try_pairs(struct walk *walk, uint32_t piece) {
    const struct bs_trie *trie = walk->trie;
    read_extensions(walk);
    size_t len = trie->pieces[BS_ANCHOR_START].items[piece].len;
    for (uint32_t i = 0; i < walk->reading.n_extensions; i++) {
        uint32_t extension = walk->reading.extensions[i].symbol;
        if (len + trie->symbols.items[extension].len > walk->segment.len)
            continue;
        uint32_t wild = bs_edges_find(&trie->pairs, piece, extension);
        if (wild != 0)
            take(walk, wild - 1);
    }
}

static void found_piece(void *context, uint32_t piece) {
    struct walk *walk = context;
    struct reading *reading = &walk->reading;
    const struct bs_trie *trie = walk->trie;
    const struct bs_pieces *pieces = &trie->pieces[reading->anchor];
    if (pieces->items[piece].paired)
        try_pairs(walk, piece);
    uint32_t next = 0;
    for (uint32_t at = pieces->items[piece].candidates; at != 0; at = next) {
        uint32_t wild = pieces->candidates[at - 1].glob;
        next = pieces->candidates[at - 1].next;
        const struct bs_symbol *glob = &trie->wilds.items[wild];
        if (bs_wild_matches(trie->wilds.texts + glob->at, glob->len, walk->segment.text,
                            walk->segment.len))
            take(walk, wild);
    }
}

static void read_wild(struct walk *walk, unsigned anchors) {
    const struct bs_trie *trie = walk->trie;
    for (int anchor = 0; anchor < BS_ANCHORS; anchor++) {
        if ((anchors & 1U << anchor) == 0)
            continue;
        walk->reading.anchor = (enum bs_anchor)anchor;
        bs_pieces_find(&trie->pieces[anchor], walk->segment.text, walk->segment.len,
                       walk->reading.seen, found_piece, walk);
    }
}

/* False: the segment is nothing that is asked for. */
static inline bool read_segment(struct walk *walk, unsigned asked) {
    struct reading *reading = &walk->reading;
    reading->literal = NULL;
    reading->has_extensions = false;
    reading->n_extensions = 0;
    reading->n_wild = 0;
    if ((asked & BS_EDGES_LITERAL) != 0)
        reading->literal = find_end(walk, BS_SYMBOL_LITERAL, walk->segment.len);
    if ((asked & BS_EDGES_EXTENSION) != 0)
        read_extensions(walk);
    if ((asked & BS_EDGES_WILD) != 0)
        read_wild(walk, asked & BS_EDGES_WILD);
    return reading->literal != NULL || reading->n_extensions + reading->n_wild > 0 ||
           (asked & BS_EDGES_STAR) != 0;
}

static inline void step(struct walk *walk, uint32_t at) {
    const struct bs_trie_node *node = &walk->trie->nodes[at];
    const struct reading *reading = &walk->reading;
    unsigned kinds = walk->last ? node->ends : node->through;
    if (node->most <= walk->best)
        return;
    if ((kinds & BS_EDGES_LITERAL) != 0 && reading->literal != NULL)
        follow(walk, at, reading->literal->symbol, reading->literal->use);
    if ((kinds & BS_EDGES_STAR) != 0)
        arrive(walk, node->star);
    if ((kinds & BS_EDGES_EXTENSION) != 0) {
        for (uint32_t i = 0; i < reading->n_extensions; i++)
            follow(walk, at, reading->extensions[i].symbol, reading->extensions[i].use);
    }
    if ((kinds & BS_EDGES_WILD) != 0) {
        for (uint32_t i = 0; i < reading->n_wild; i++)
            follow(walk, at, reading->wild[i].symbol, reading->wild[i].use);
    }
}

/* Gaps under which nothing is higher than the best have no more say. */
static inline void drop_beaten_gaps(struct walk *walk) {
    uint32_t kept = 0;
    walk->gaps_ask = (struct asked){0, 0};
    for (uint32_t i = 0; i < walk->n_gaps; i++) {
        const struct bs_trie_node *node = &walk->trie->nodes[walk->gaps[i]];
        if (node->most <= walk->best)
            continue;
        walk->gaps[kept++] = walk->gaps[i];
        ask(&walk->gaps_ask, node);
    }
    walk->n_gaps = kept;
}

/* A part of a path in which only gaps are left. */
struct rest {
    const struct bs_trie *trie;
    struct bs_segments *segments;
    struct asked asked; /* by the gaps */
    uint32_t gap;       /* if it is one only, else 0 */
    int32_t best;
};

/* A name that a rule may have: if it is nothing to the gap, or ends there, it is done with. Not
 * inlined, so that the loops that pass by all others stay in registers. */
__attribute__((noinline)) static bool is_done(struct rest *rest, size_t at, size_t len, bool last) {
    const struct bs_segments *segments = rest->segments;
    if (rest->gap == 0)
        return false;
    const struct bs_symbol_key key = bs_symbol_key(segments->path, segments->len, at, len);
    const struct bs_symbol_slot *slot =
        bs_symbols_find(&rest->trie->symbols, BS_SYMBOL_LITERAL, &key);
    if (slot == NULL)
        return true;
    if (slot->use.owner != rest->gap + 1)
        return slot->use.owner != BS_MANY_OWNERS;
    const struct bs_trie_node *node = &rest->trie->nodes[slot->use.child];
    if (node->edges != 0 || node->gap != 0)
        return false;
    if (node->below > rest->best)
        rest->best = node->below;
    if (last && node->rule > rest->best)
        rest->best = node->rule;
    return true;
}

/* Most segments are nothing to gaps, and most rest ends there (a name between two `**`). False:
 * that was all. */
static inline bool leave_gaps(struct rest *rest) {
    struct bs_segments *segments = rest->segments;
    const struct bs_symbols *symbols = &rest->trie->symbols;
    if (rest->asked.through == 0)
        bs_segments_to_last(segments);
    else if (rest->asked.through != BS_EDGES_LITERAL)
        return true;
    if (segments->len < BS_WORD_BYTES)
        return true;
    const char *path = segments->path;
    size_t len = segments->len;
    size_t base = segments->base;
    size_t at = segments->at;
    uint64_t slashes = segments->slashes;
    for (; slashes != 0; slashes &= slashes - 1) {
        size_t end = base + (size_t)__builtin_ctzll(slashes);
        if (bs_symbols_may_have(symbols, bs_symbol_word(path, len, at, end - at)) &&
            !is_done(rest, at, end - at, false))
            break;
        at = end + 1;
    }
    segments->at = at;
    segments->slashes = slashes;
    if (rest->asked.ends != BS_EDGES_LITERAL || !bs_segments_at_last(segments))
        return true;
    return bs_symbols_may_have(symbols, bs_symbol_word(path, len, at, len - at)) &&
           !is_done(rest, at, len - at, true);
}

/* From a path of at least one segment, and a root that says more than `best`. Not inlined: who does
 * not need it shall not have its arrays on the stack. */
__attribute__((noinline)) static int32_t walk_all(const struct bs_trie *trie,
                                                  struct bs_segments *segments, int32_t best) {
    const struct bs_trie_node *root = &trie->nodes[0];
    uint32_t arrays[3][trie->width];
    uint64_t marks[trie->n_marks / 64 + 1];
    uint64_t seen[trie->wilds.n / 64 + 1];
    struct read_symbol wild[trie->wilds.n + 1];
    struct walk walk;
    if (trie->n_marks > 0)
        memset(marks, 0, sizeof marks);
    walk.trie = trie;
    walk.path = segments->path;
    walk.len = segments->len;
    walk.best = best;
    walk.gaps = arrays[2];
    walk.n_gaps = 0;
    walk.gaps_ask = walk.next_asks = (struct asked){0, 0};
    ask(&walk.next_asks, root);
    walk.marks = marks;
    walk.reading.wild = wild;
    walk.reading.seen = seen;
    uint32_t n_now = root->edges != 0 ? 1 : 0;
    uint32_t turn = 0;
    arrays[0][0] = 0;
    if (root->gap != 0)
        enter_gap(&walk, root->gap);
    while (n_now + walk.n_gaps > 0) {
        if (n_now == 0) {
            struct rest rest = {trie, segments, walk.gaps_ask, walk.n_gaps == 1 ? walk.gaps[0] : 0,
                                walk.best};
            bool more = leave_gaps(&rest);
            walk.best = rest.best;
            if (!more)
                break;
        }
        if (!bs_segments_next(segments, &walk.segment))
            break;
        const uint32_t *now = arrays[turn];
        turn = 1 - turn;
        walk.last = segments->at > walk.len;
        walk.near_last = segments->slashes == 0;
        unsigned asked = walk.last ? walk.next_asks.ends | walk.gaps_ask.ends
                                   : walk.next_asks.through | walk.gaps_ask.through;
        walk.next = arrays[turn];
        walk.n_next = 0;
        walk.next_asks = (struct asked){0, 0};
        if (read_segment(&walk, asked)) {
            /* Gaps that this segment enters begin at the next one. */
            uint32_t n_gaps = walk.n_gaps;
            for (uint32_t i = 0; i < n_now; i++)
                step(&walk, now[i]);
            for (uint32_t i = 0; i < n_gaps; i++)
                step(&walk, walk.gaps[i]);
            drop_beaten_gaps(&walk);
        }
        n_now = walk.n_next;
    }
    return walk.best;
}

int32_t bs_trie_highest(const struct bs_trie *trie, const struct bs_path_view *path, int32_t best) {
    const struct bs_trie_node *root = &trie->nodes[0];
    struct bs_segments segments;
    if (root->below > best)
        best = root->below;
    if (path->len == 0)
        return root->rule > best ? root->rule : best;
    if (root->most <= best)
        return best;
    bs_segments_start(&segments, path);
    if (root->edges == 0) {
        /* Often this is all: before anything is set up. */
        const struct bs_trie_node *gap = &trie->nodes[root->gap];
        struct rest rest = {trie, &segments, {gap->through, gap->ends}, root->gap, best};
        bool more = leave_gaps(&rest);
        best = rest.best;
        if (!more || root->most <= best)
            return best;
    }
    return walk_all(trie, &segments, best);
}
