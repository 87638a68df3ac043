#include "policy/trie.h"

#include <stdlib.h>
#include <string.h>

#include "policy/wild.h"

/* A rule, cut at its separators. */
struct cut {
    struct bs_pattern segments[BS_TRIE_MOST_DEPTH];
    size_t n;
    bool tail; /* ends in a `**` segment, which is not among them */
};

/* What only building needs to know of a node. */
struct origin {
    uint32_t parent;
    uint8_t kind; /* BS_EDGES_..., 0: a gap */
    bool again;   /* under a gap, so it can be reached by any segment of a path */
};

struct builder {
    struct bs_trie *trie;
    struct origin *origins; /* as many as there is room for nodes */
};

enum segment_kind { LITERAL, EXTENSION, WILD, STAR, GAP, CROSSING };

static enum segment_kind kind_of(const struct bs_pattern *segment) {
    size_t stars = 0;
    bool asks = false;
    for (size_t i = 0; i < segment->len; i++) {
        stars += segment->text[i] == '*';
        asks = asks || segment->text[i] == '?';
        if (segment->len > 2 && i > 0 && segment->text[i] == '*' && segment->text[i - 1] == '*')
            return CROSSING;
    }
    if (stars == 0 && !asks)
        return LITERAL;
    if (stars == segment->len)
        return stars == 1 ? STAR : GAP;
    if (stars == 1 && !asks && segment->text[0] == '*' && segment->text[1] == '.' &&
        segment->len - 1 <= BS_TRIE_LONGEST_EXTENSION)
        return EXTENSION;
    return bs_wild_is_simple(segment->text, segment->len) ? WILD : CROSSING;
}

/* False: the rule does not fit into a trie. */
static bool cut_rule(const struct bs_pattern *pattern, struct cut *cut) {
    cut->n = 0;
    cut->tail = false;
    if (pattern->len == 1 && pattern->text[0] == '.')
        return true;
    const char *at = pattern->text;
    const char *end = pattern->text + pattern->len;
    while (at <= end) {
        const char *slash = at < end ? memchr(at, '/', (size_t)(end - at)) : NULL;
        struct bs_pattern segment = {at, (size_t)((slash != NULL ? slash : end) - at)};
        at = segment.text + segment.len + 1;
        enum segment_kind kind = kind_of(&segment);
        if (kind == CROSSING)
            return false;
        bool repeated = kind == GAP && cut->n > 0 && kind_of(&cut->segments[cut->n - 1]) == GAP;
        if (repeated)
            continue;
        if (cut->n == BS_TRIE_MOST_DEPTH)
            return false;
        cut->segments[cut->n++] = segment;
    }
    cut->tail = kind_of(&cut->segments[cut->n - 1]) == GAP;
    cut->n -= cut->tail;
    return true;
}

static void lift(int32_t *rule, int32_t to) {
    if (to > *rule)
        *rule = to;
}

/* 0: no memory. */
static uint32_t add_node(struct builder *builder, uint32_t parent, uint8_t kind) {
    struct bs_trie *trie = builder->trie;
    if (trie->n_nodes == trie->cap_nodes) {
        uint32_t cap = trie->cap_nodes == 0 ? 64 : trie->cap_nodes * 2;
        struct bs_trie_node *nodes = realloc(trie->nodes, cap * sizeof *nodes);
        if (nodes == NULL)
            return 0;
        trie->nodes = nodes;
        struct origin *origins = realloc(builder->origins, cap * sizeof *origins);
        if (origins == NULL)
            return 0;
        builder->origins = origins;
        trie->cap_nodes = cap;
    }
    uint32_t node = trie->n_nodes++;
    trie->nodes[node] =
        (struct bs_trie_node){.rule = BS_NO_RULE, .below = BS_NO_RULE, .most = BS_NO_RULE};
    builder->origins[node] = (struct origin){.parent = parent, .kind = kind};
    if (node > 0)
        builder->origins[node].again =
            builder->origins[parent].again || builder->origins[parent].kind == 0;
    if (node > 0 && kind == 0 && builder->origins[node].again)
        trie->nodes[node].mark = ++trie->n_marks;
    return node;
}

/* The child by a segment that has a symbol; 0: no memory. */
static uint32_t child_by_symbol(struct builder *builder, uint32_t node, uint32_t symbol,
                                uint8_t kind) {
    struct bs_trie *trie = builder->trie;
    uint32_t child = bs_edges_find(&trie->edges, node, symbol);
    if (child != 0)
        return child;
    child = add_node(builder, node, kind);
    if (child == 0 || !bs_edges_add(&trie->edges, node, symbol, child))
        return 0;
    trie->nodes[node].edges |= kind;
    struct bs_symbol *owned = (symbol & BS_WILD_SYMBOL) != 0
                                  ? &trie->wilds.items[symbol & ~BS_WILD_SYMBOL]
                                  : &trie->symbols.items[symbol];
    owned->use.owner = owned->use.owner == 0 ? node + 1 : BS_MANY_OWNERS;
    owned->use.child = child;
    return child;
}

static enum bs_trie_result result_of(enum bs_symbols_result result) {
    static const enum bs_trie_result results[] = {[BS_SYMBOLS_OK] = BS_TRIE_OK,
                                                  [BS_SYMBOLS_COLLIDE] = BS_TRIE_TOO_LARGE,
                                                  [BS_SYMBOLS_NO_MEMORY] = BS_TRIE_NO_MEMORY};
    return results[result];
}

static enum bs_trie_result extension_symbol(struct bs_trie *trie, const char *text, size_t len,
                                            uint32_t *symbol) {
    trie->extension_lengths |= UINT64_C(1) << len;
    return result_of(bs_symbols_add(&trie->symbols, BS_SYMBOL_EXTENSION, text, len, symbol));
}

/* Makes a new segment with wildcards known by its piece, or by piece and extension. */
static enum bs_trie_result add_wild(struct bs_trie *trie, enum bs_anchor anchor,
                                    const struct bs_pattern *segment,
                                    const struct bs_pattern *piece, uint32_t wild) {
    struct bs_pieces *pieces = &trie->pieces[anchor];
    uint32_t at = 0;
    if (!bs_pieces_add(pieces, piece->text, piece->len, &at))
        return BS_TRIE_NO_MEMORY;
    struct bs_pattern rest = {segment->text + piece->len, segment->len - piece->len};
    if (anchor == BS_ANCHOR_START && kind_of(&rest) == EXTENSION) {
        uint32_t extension = 0;
        enum bs_trie_result result =
            extension_symbol(trie, rest.text + 1, rest.len - 1, &extension);
        if (result != BS_TRIE_OK)
            return result;
        pieces->items[at].paired = true;
        return bs_edges_add(&trie->pairs, at, extension, wild + 1) ? BS_TRIE_OK : BS_TRIE_NO_MEMORY;
    }
    return bs_pieces_add_candidate(pieces, at, wild) ? BS_TRIE_OK : BS_TRIE_NO_MEMORY;
}

/* The number of a segment, and what kind of edge it makes. */
static enum bs_trie_result symbol_of(struct bs_trie *trie, const struct bs_pattern *segment,
                                     enum segment_kind kind, uint32_t *symbol, uint8_t *edge) {
    *edge = BS_EDGES_EXTENSION;
    if (kind == EXTENSION)
        return extension_symbol(trie, segment->text + 1, segment->len - 1, symbol);
    *edge = BS_EDGES_LITERAL;
    if (kind == LITERAL)
        return result_of(
            bs_symbols_add(&trie->symbols, BS_SYMBOL_LITERAL, segment->text, segment->len, symbol));
    uint32_t n = trie->wilds.n;
    enum bs_trie_result result = result_of(
        bs_symbols_add(&trie->wilds, BS_SYMBOL_WILD, segment->text, segment->len, symbol));
    size_t at = 0;
    struct bs_pattern piece = {0};
    enum bs_anchor anchor = bs_piece_of(segment->text, segment->len, &at, &piece.len);
    piece.text = segment->text + at;
    if (result == BS_TRIE_OK && trie->wilds.n > n)
        result = add_wild(trie, anchor, segment, &piece, *symbol);
    *symbol |= BS_WILD_SYMBOL;
    *edge = (uint8_t)(1U << anchor);
    return result;
}

static enum bs_trie_result child_of(struct builder *builder, uint32_t *node,
                                    const struct bs_pattern *segment) {
    struct bs_trie *trie = builder->trie;
    enum segment_kind kind = kind_of(segment);
    uint32_t child = 0;
    if (kind == STAR || kind == GAP) {
        child = kind == STAR ? trie->nodes[*node].star : trie->nodes[*node].gap;
        if (child == 0) {
            child = add_node(builder, *node, kind == STAR ? BS_EDGES_STAR : 0);
            if (kind == STAR) {
                trie->nodes[*node].star = child;
                trie->nodes[*node].edges |= BS_EDGES_STAR;
            } else {
                trie->nodes[*node].gap = child;
            }
        }
    } else {
        uint32_t symbol = 0;
        uint8_t edge = 0;
        enum bs_trie_result result = symbol_of(trie, segment, kind, &symbol, &edge);
        if (result != BS_TRIE_OK)
            return result;
        child = child_by_symbol(builder, *node, symbol, edge);
    }
    *node = child;
    return child == 0 ? BS_TRIE_NO_MEMORY : BS_TRIE_OK;
}

static enum bs_trie_result insert(struct builder *builder, const struct cut *cut, int32_t rule) {
    struct bs_trie *trie = builder->trie;
    uint32_t node = 0;
    lift(&trie->nodes[node].most, rule);
    for (size_t i = 0; i < cut->n; i++) {
        enum bs_trie_result result = child_of(builder, &node, &cut->segments[i]);
        if (result != BS_TRIE_OK)
            return result;
        lift(&trie->nodes[node].most, rule);
    }
    lift(cut->tail ? &trie->nodes[node].below : &trie->nodes[node].rule, rule);
    return bs_trie_bytes(trie) > BS_TRIE_MOST_BYTES ? BS_TRIE_TOO_LARGE : BS_TRIE_OK;
}

/* How many nodes can be alive at once, at most. Nodes that lead nowhere never are. From one
 * beginning, alive nodes are at one depth, and of literal siblings one is; below a gap there is a
 * beginning at each segment, so the depths add up; gaps stay. */
struct alive {
    uint16_t literal[BS_TRIE_MOST_DEPTH]; /* by depth below the node, the widest literal child */
    uint16_t other[BS_TRIE_MOST_DEPTH];   /* ..., all other children together */
    uint64_t gaps_literal;                /* alive by gaps, if the node is reached once */
    uint64_t gaps_other;
    uint64_t gaps_all; /* ..., if it is reached by every segment */
};

static uint16_t saturated(uint32_t n) { return (uint16_t)(n < UINT16_MAX ? n : UINT16_MAX); }

static uint64_t depths(const struct alive *alive) {
    uint64_t sum = 0;
    for (size_t d = 0; d < BS_TRIE_MOST_DEPTH; d++)
        sum += (uint64_t)alive->literal[d] + alive->other[d];
    return sum;
}

static void add_child(struct alive *parent, const struct alive *child, uint8_t kind, bool inner) {
    parent->gaps_all += child->gaps_all;
    if (kind == 0) {
        uint64_t own = 1 + depths(child);
        parent->gaps_other += own + child->gaps_all;
        parent->gaps_all += own;
        return;
    }
    uint64_t once = child->gaps_literal + child->gaps_other;
    if (kind != BS_EDGES_LITERAL)
        parent->gaps_other += once;
    else if (once > parent->gaps_literal)
        parent->gaps_literal = once;
    for (size_t d = 0; d + 1 < BS_TRIE_MOST_DEPTH; d++) {
        uint32_t deeper = (uint32_t)child->literal[d] + child->other[d];
        if (d == 0)
            deeper = inner ? 1 : 0;
        if (kind != BS_EDGES_LITERAL)
            parent->other[d + 1] = saturated(parent->other[d + 1] + deeper);
        else if (deeper > parent->literal[d + 1])
            parent->literal[d + 1] = saturated(deeper);
    }
}

static enum bs_trie_result measure(const struct builder *builder) {
    struct bs_trie *trie = builder->trie;
    struct alive *alive = calloc(trie->n_nodes, sizeof *alive);
    if (alive == NULL)
        return BS_TRIE_NO_MEMORY;
    /* Children have higher numbers than their parents. */
    for (uint32_t node = trie->n_nodes - 1; node > 0; node--) {
        const struct origin *origin = &builder->origins[node];
        add_child(&alive[origin->parent], &alive[node], origin->kind, trie->nodes[node].edges != 0);
    }
    uint64_t width = 2 + depths(&alive[0]) + alive[0].gaps_literal + alive[0].gaps_other;
    free(alive);
    if (width > BS_TRIE_MOST_ALIVE)
        return BS_TRIE_UNFIT;
    trie->width = (uint32_t)width;
    return BS_TRIE_OK;
}

/* Most children of a gap only end rules (`**` and `*.c`): they are asked for the last segment. */
static void tell_what_leads_on(const struct builder *builder) {
    struct bs_trie_node *nodes = builder->trie->nodes;
    for (uint32_t at = 1; at < builder->trie->n_nodes; at++) {
        const struct bs_trie_node *node = &nodes[at];
        struct bs_trie_node *parent = &nodes[builder->origins[at].parent];
        if (node->edges != 0 || node->gap != 0 || node->below != BS_NO_RULE)
            parent->through |= builder->origins[at].kind;
        if (node->rule != BS_NO_RULE || node->below != BS_NO_RULE)
            parent->ends |= builder->origins[at].kind;
    }
}

enum bs_trie_result bs_trie_build(struct bs_trie *trie, const struct bs_pattern *patterns, size_t n,
                                  bool *left, size_t *broke) {
    *trie = (struct bs_trie){0};
    struct builder builder = {.trie = trie};
    for (int anchor = 0; anchor < BS_ANCHORS; anchor++)
        trie->pieces[anchor].anchor = (enum bs_anchor)anchor;
    enum bs_trie_result result = BS_TRIE_OK;
    (void)add_node(&builder, 0, BS_EDGES_LITERAL);
    if (builder.origins == NULL)
        result = BS_TRIE_NO_MEMORY;
    for (size_t i = 0; result == BS_TRIE_OK && i < n; i++) {
        struct cut cut;
        *broke = i;
        if (left[i])
            continue;
        left[i] = !cut_rule(&patterns[i], &cut);
        if (!left[i])
            result = insert(&builder, &cut, (int32_t)i);
        if (trie->wilds.n > BS_TRIE_MOST_WILD)
            result = BS_TRIE_TOO_LARGE;
    }
    if (result == BS_TRIE_OK)
        result = measure(&builder);
    if (result == BS_TRIE_OK) {
        tell_what_leads_on(&builder);
        if (!bs_symbols_settle(&trie->symbols))
            result = BS_TRIE_NO_MEMORY;
    }
    free(builder.origins);
    if (result != BS_TRIE_OK)
        bs_trie_clear(trie);
    return result;
}

void bs_trie_clear(struct bs_trie *trie) {
    bs_symbols_clear(&trie->symbols);
    bs_symbols_clear(&trie->wilds);
    for (int i = 0; i < BS_ANCHORS; i++)
        bs_pieces_clear(&trie->pieces[i]);
    free(trie->nodes);
    bs_edges_clear(&trie->edges);
    bs_edges_clear(&trie->pairs);
    *trie = (struct bs_trie){0};
}

size_t bs_trie_bytes(const struct bs_trie *trie) {
    size_t bytes = bs_symbols_bytes(&trie->symbols) + bs_symbols_bytes(&trie->wilds) +
                   trie->cap_nodes * sizeof *trie->nodes + bs_edges_bytes(&trie->edges) +
                   bs_edges_bytes(&trie->pairs);
    for (int i = 0; i < BS_ANCHORS; i++)
        bytes += bs_pieces_bytes(&trie->pieces[i]);
    return bytes;
}
