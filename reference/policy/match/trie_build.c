#include "policy/match/trie.h"

#include <stdlib.h>
#include <string.h>

#include "policy/match/wild.h"

/* What putting wildcards in order takes of memory. */
enum { BS_TRIE_BYTES_PER_WILD = 320 };

/* A rule, cut at its separators. */
struct cut {
    struct bs_pattern segments[BS_TRIE_MOST_DEPTH];
    size_t n;
    bool tail; /* ends in a `**` segment, which is not among them */
};

enum segment_kind { LITERAL, WILD, STAR, GAP, CROSSING };

/* What only building needs to know of a node. */
struct origin {
    enum segment_kind kind;
    bool again; /* under a gap, so it can be reached by any segment of a path */
};

struct builder {
    struct bs_trie *trie;
    struct origin *origins; /* as many as there is room for nodes */
};

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
    cut->tail = cut->n > 0 && kind_of(&cut->segments[cut->n - 1]) == GAP;
    cut->n -= cut->tail;
    return true;
}

static void lift(int32_t *rule, int32_t to) {
    if (to > *rule)
        *rule = to;
}

/* Nodes stand at lines of memory, which no realloc promises. */
static bool reserve_nodes(struct builder *builder) {
    struct bs_trie *trie = builder->trie;
    if (builder->origins != NULL && trie->n_nodes < trie->cap_nodes)
        return true;
    uint32_t cap = trie->cap_nodes == 0 ? 64 : trie->cap_nodes * 2;
    size_t before = (size_t)((char *)trie->nodes - (char *)trie->nodes_block);
    char *block = realloc(trie->nodes_block, cap * sizeof *trie->nodes + BS_TRIE_LINE);
    if (block == NULL)
        return false;
    size_t behind = BS_TRIE_LINE - (uintptr_t)block % BS_TRIE_LINE;
    if (before != behind)
        memmove(block + behind, block + before, trie->n_nodes * sizeof *trie->nodes);
    trie->nodes_block = block;
    trie->nodes = (void *)(block + behind);
    struct origin *origins = realloc(builder->origins, cap * sizeof *origins);
    if (origins == NULL)
        return false;
    builder->origins = origins;
    trie->cap_nodes = cap;
    return true;
}

/* 0: no memory. */
static uint32_t add_node(struct builder *builder, uint32_t parent, enum segment_kind kind) {
    struct bs_trie *trie = builder->trie;
    if (!reserve_nodes(builder))
        return 0;
    uint32_t node = trie->n_nodes++;
    trie->nodes[node] = (struct bs_trie_node){
        .from = parent, .rule = BS_NO_RULE, .below = BS_NO_RULE, .most = BS_NO_RULE};
    builder->origins[node] = (struct origin){.kind = kind};
    if (node > 0)
        builder->origins[node].again =
            builder->origins[parent].again || builder->origins[parent].kind == GAP;
    if (node > 0 && kind == GAP && builder->origins[node].again)
        trie->nodes[node].mark = ++trie->n_marks;
    return node;
}

static enum bs_trie_result result_of(enum bs_names_result result) {
    static const enum bs_trie_result results[] = {[BS_NAMES_OK] = BS_TRIE_OK,
                                                  [BS_NAMES_COLLIDE] = BS_TRIE_TOO_LARGE,
                                                  [BS_NAMES_NO_MEMORY] = BS_TRIE_NO_MEMORY};
    return results[result];
}

/* `wild` of a node is how many such children it has, until they are put in order. */
static enum bs_trie_result child_by_name(struct builder *builder, uint32_t *node,
                                         const struct bs_pattern *segment, enum segment_kind kind) {
    struct bs_trie *trie = builder->trie;
    struct bs_name_key key;
    bs_name_read(&key, segment->text, segment->len, 0, segment->len);
    uint32_t parent = *node;
    bool wild = kind == WILD;
    *node = bs_names_find(&trie->names, trie->nodes, parent, &key, wild);
    if (*node != 0)
        return BS_TRIE_OK;
    *node = add_node(builder, parent, kind);
    if (*node == 0)
        return BS_TRIE_NO_MEMORY;
    trie->n_wild += wild;
    if (wild && ++trie->nodes[parent].wild > BS_TRIE_MOST_WILD)
        return BS_TRIE_TOO_LARGE;
    return result_of(bs_names_add(&trie->names, trie->nodes, *node, &key, wild));
}

static enum bs_trie_result child_of(struct builder *builder, uint32_t *node,
                                    const struct bs_pattern *segment) {
    struct bs_trie *trie = builder->trie;
    enum segment_kind kind = kind_of(segment);
    if (kind != STAR && kind != GAP)
        return child_by_name(builder, node, segment, kind);
    uint32_t parent = *node;
    *node = kind == STAR ? trie->nodes[parent].star : trie->nodes[parent].gap;
    if (*node != 0)
        return BS_TRIE_OK;
    *node = add_node(builder, parent, kind);
    *(kind == STAR ? &trie->nodes[parent].star : &trie->nodes[parent].gap) = *node;
    return *node == 0 ? BS_TRIE_NO_MEMORY : BS_TRIE_OK;
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
    size_t bytes = bs_trie_bytes(trie) + trie->n_wild * BS_TRIE_BYTES_PER_WILD;
    return bytes > BS_TRIE_MOST_BYTES ? BS_TRIE_TOO_LARGE : BS_TRIE_OK;
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

static void add_child(struct alive *parent, const struct alive *child, enum segment_kind kind,
                      bool inner) {
    parent->gaps_all += child->gaps_all;
    if (kind == GAP) {
        uint64_t own = 1 + depths(child);
        parent->gaps_other += own + child->gaps_all;
        parent->gaps_all += own;
        return;
    }
    uint64_t once = child->gaps_literal + child->gaps_other;
    if (kind != LITERAL)
        parent->gaps_other += once;
    else if (once > parent->gaps_literal)
        parent->gaps_literal = once;
    for (size_t d = 0; d + 1 < BS_TRIE_MOST_DEPTH; d++) {
        uint32_t deeper = (uint32_t)child->literal[d] + child->other[d];
        if (d == 0)
            deeper = inner ? 1 : 0;
        if (kind != LITERAL)
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
        const struct bs_trie_node *child = &trie->nodes[node];
        add_child(&alive[child->from], &alive[node], builder->origins[node].kind,
                  child->ahead != 0);
    }
    uint64_t width = 2 + depths(&alive[0]) + alive[0].gaps_literal + alive[0].gaps_other;
    free(alive);
    if (width > BS_TRIE_MOST_ALIVE)
        return BS_TRIE_UNFIT;
    trie->width = (uint32_t)width;
    return BS_TRIE_OK;
}

/* One segment more than each of these numbers. */
static uint32_t one_more(uint32_t lengths) {
    return lengths << 1 | (lengths & UINT32_C(1) << BS_TRIE_MOST_COUNTED);
}

/* These numbers and all above the least. */
static uint32_t or_more(uint32_t lengths) { return lengths == 0 ? 0 : ~((lengths & -lengths) - 1); }

/* How many segments can be left where this node is reached. */
static uint32_t lengths_of(const struct bs_trie *trie, const struct bs_trie_node *node) {
    uint32_t lengths = node->ahead | (node->rule != BS_NO_RULE);
    if (node->gap != 0)
        lengths |= or_more(trie->nodes[node->gap].ahead);
    return node->below != BS_NO_RULE ? ~UINT32_C(0) : lengths;
}

/* Nodes are told what can follow them, and those with wildcards are put in order. */
static enum bs_trie_result settle(const struct builder *builder) {
    struct bs_trie *trie = builder->trie;
    uint32_t *lengths = calloc(trie->n_nodes, sizeof *lengths);
    if (lengths == NULL)
        return BS_TRIE_NO_MEMORY;
    /* Children have higher numbers than their parents. */
    for (uint32_t at = trie->n_nodes - 1; at > 0; at--) {
        const struct bs_trie_node *node = &trie->nodes[at];
        struct bs_trie_node *parent = &trie->nodes[node->from];
        lengths[at] = lengths_of(trie, node);
        if (builder->origins[at].kind == LITERAL)
            parent->names |= lengths[at];
        if (builder->origins[at].kind == STAR)
            parent->stars = lengths[at];
        if (builder->origins[at].kind != GAP)
            parent->ahead |= one_more(lengths[at]);
    }
    enum bs_names_result result =
        bs_wilds_build(&trie->wilds, trie->nodes, trie->n_nodes, lengths, &trie->names);
    if (result == BS_NAMES_OK && !bs_names_settle(&trie->names, trie->nodes, trie->n_nodes))
        result = BS_NAMES_NO_MEMORY;
    free(lengths);
    return result_of(result);
}

enum bs_trie_result bs_trie_build(struct bs_trie *trie, const struct bs_pattern *patterns, size_t n,
                                  bool *left, size_t *broke) {
    *trie = (struct bs_trie){0};
    struct builder builder = {.trie = trie};
    enum bs_trie_result result = BS_TRIE_OK;
    (void)add_node(&builder, 0, LITERAL);
    if (builder.origins == NULL || !bs_names_init(&trie->names))
        result = BS_TRIE_NO_MEMORY;
    for (size_t i = 0; result == BS_TRIE_OK && i < n; i++) {
        struct cut cut = {.n = 0};
        *broke = i;
        if (left[i])
            continue;
        left[i] = !cut_rule(&patterns[i], &cut);
        if (!left[i])
            result = insert(&builder, &cut, (int32_t)i);
    }
    if (result == BS_TRIE_OK)
        result = settle(&builder);
    if (result == BS_TRIE_OK)
        result = measure(&builder);
    free(builder.origins);
    if (result != BS_TRIE_OK)
        bs_trie_clear(trie);
    return result;
}

void bs_trie_clear(struct bs_trie *trie) {
    bs_names_clear(&trie->names);
    bs_wilds_clear(&trie->wilds);
    free(trie->nodes_block);
    *trie = (struct bs_trie){0};
}

size_t bs_trie_bytes(const struct bs_trie *trie) {
    return trie->cap_nodes * sizeof *trie->nodes + bs_names_bytes(&trie->names) +
           bs_wilds_bytes(&trie->wilds);
}
