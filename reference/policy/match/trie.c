#include "policy/match/trie.h"

#include <string.h>

#include "policy/match/segments.h"

/* One walk. The arrays are the walk's own stack frame and as long as the trie needs them. */
struct walk {
    const struct bs_trie *trie;
    int32_t best;
    uint32_t left;  /* segments behind this one */
    uint32_t *next; /* nodes that are reached by the segment */
    uint32_t n_next;
    uint32_t *gaps; /* nodes that stay alive */
    uint32_t n_gaps;
    uint64_t *marks; /* gaps that were entered */
    uint64_t *seen;  /* room for a bit for each slot of wildcards */
    struct bs_name_key key;
    struct bs_wild_text text;
};

static inline uint32_t counted(size_t left) {
    return left < BS_TRIE_MOST_COUNTED ? (uint32_t)left : BS_TRIE_MOST_COUNTED;
}

static inline bool has(uint32_t lengths, uint32_t left) { return (lengths >> left & 1) != 0; }

/* At a path of which `left` segments are left. */
static void enter_gap(struct walk *walk, uint32_t gap, uint32_t left) {
    const struct bs_trie_node *node = &walk->trie->nodes[gap];
    uint32_t at_most = (UINT32_C(2) << left) - 1;
    if (node->most <= walk->best || (node->ahead & at_most) == 0)
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
    if (walk->left == 0) {
        if (node->rule > walk->best)
            walk->best = node->rule;
        return;
    }
    walk->next[walk->n_next] = child;
    walk->n_next += has(node->ahead, walk->left);
    if (node->gap != 0)
        enter_gap(walk, node->gap, walk->left);
}

/* The highest is the first. */
static void try_wilds(void *context, uint32_t first, uint32_t n) {
    struct walk *walk = context;
    const struct bs_wild *wild = &walk->trie->wilds.items[first];
    for (const struct bs_wild *end = wild + n; wild < end && wild->most > walk->best; wild++) {
        if (!has(wild->lengths, walk->left) ||
            !bs_wild_takes(wild, walk->trie->nodes, &walk->trie->names, &walk->text))
            continue;
        if (wild->lengths == 1)
            walk->best = wild->most; /* a rule ends there, and that is all */
        else
            arrive(walk, wild->to);
    }
}

static inline void step_by_wilds(struct walk *walk, uint32_t run) {
    const struct bs_wilds *wilds = &walk->trie->wilds;
    const struct bs_wild_run *of = &wilds->runs[run];
    if (!has(of->lengths, walk->left))
        return;
    walk->text = bs_wild_text_of(walk->key.text, walk->key.len, walk->key.first, walk->key.last);
    if (of->has_keys)
        bs_wilds_find(wilds, run, &walk->text, walk->seen, try_wilds, walk);
    else
        try_wilds(walk, of->first, of->n);
}

static inline void step(struct walk *walk, uint32_t at, bool is_gap) {
    const struct bs_trie *trie = walk->trie;
    const struct bs_trie_node *node = &trie->nodes[at];
    if (node->most <= walk->best)
        return;
    if (has(node->names, walk->left) && (node->hashes & bs_names_hash_bit(&walk->key)) != 0 &&
        (!is_gap || bs_names_may_have(&trie->names, walk->key.first))) {
        uint32_t child = bs_names_find(&trie->names, trie->nodes, at, &walk->key, false);
        if (child != 0)
            arrive(walk, child);
    }
    if (has(node->stars, walk->left))
        arrive(walk, node->star);
    if (node->wild != 0)
        step_by_wilds(walk, node->wild);
}

/* Gaps under which nothing is higher than the best have no more say. */
static inline void drop_beaten_gaps(struct walk *walk) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < walk->n_gaps; i++) {
        uint32_t gap = walk->gaps[i];
        walk->gaps[kept] = gap;
        kept += walk->trie->nodes[gap].most > walk->best;
    }
    walk->n_gaps = kept;
}

/* A part of a path in which only one gap is left. */
struct rest {
    const struct bs_trie *trie;
    struct bs_segments *segments;
    uint32_t gap;
    int32_t best;
};

/* A name that a rule may have: if it is nothing to the gap, or ends there, it is done with. Not
 * inlined, so that the loops that pass by all others stay in registers. */
__attribute__((noinline)) static bool is_done(struct rest *rest, size_t at, size_t len,
                                              uint32_t left) {
    const struct bs_segments *segments = rest->segments;
    const struct bs_trie *trie = rest->trie;
    struct bs_name_key key;
    bs_name_read(&key, segments->path, segments->len, at, len);
    uint32_t child = bs_names_find(&trie->names, trie->nodes, rest->gap, &key, false);
    if (child == 0)
        return true;
    const struct bs_trie_node *node = &trie->nodes[child];
    if (node->ahead != 0 || node->gap != 0)
        return false;
    if (node->below > rest->best)
        rest->best = node->below;
    if (left == 0 && node->rule > rest->best)
        rest->best = node->rule;
    return true;
}

/* Most segments are nothing to a gap, and most rest ends there (a name between two `**`). False:
 * that was all. */
static inline bool leave_gap(struct rest *rest) {
    struct bs_segments *segments = rest->segments;
    const struct bs_names *names = &rest->trie->names;
    const struct bs_trie_node *gap = &rest->trie->nodes[rest->gap];
    uint32_t others = gap->stars;
    if (gap->wild != 0)
        others |= rest->trie->wilds.runs[gap->wild].lengths;
    if (((gap->names | others) & ~UINT32_C(1)) == 0)
        bs_segments_to_last(segments);
    else if ((others & ~UINT32_C(1)) != 0)
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
        if (bs_names_may_have(names, bs_name_word(path, len, at, end - at)) &&
            !is_done(rest, at, end - at, 1))
            break;
        at = end + 1;
    }
    segments->at = at;
    segments->slashes = slashes;
    if (others != 0 || !bs_segments_at_last(segments))
        return true;
    return bs_names_may_have(names, bs_name_word(path, len, at, len - at)) &&
           !is_done(rest, at, len - at, 0);
}

/* From a path of at least one segment, and a root that says more than `best`. Not inlined: who does
 * not need it shall not have its arrays on the stack. */
__attribute__((noinline)) static int32_t walk_all(const struct bs_trie *trie,
                                                  struct bs_segments *segments, int32_t best) {
    const struct bs_trie_node *root = &trie->nodes[0];
    uint32_t arrays[3][trie->width + 1];
    uint64_t marks[trie->n_marks / 64 + 1];
    uint64_t seen[trie->wilds.n_slots / 64 + 1];
    struct bs_segment segment;
    struct walk walk; /* not cleared: that would cost more than some walks */
    walk.trie = trie;
    walk.best = best;
    walk.gaps = arrays[2];
    walk.n_gaps = 0;
    walk.marks = marks;
    walk.seen = seen;
    if (trie->n_marks > 0)
        memset(marks, 0, sizeof marks);
    size_t left = bs_segments_left(segments);
    uint32_t n_now = has(root->ahead, counted(left));
    uint32_t turn = 0;
    arrays[0][0] = 0;
    if (root->gap != 0)
        enter_gap(&walk, root->gap, counted(left));
    while (n_now + walk.n_gaps > 0 && bs_segments_next(segments, &segment)) {
        const uint32_t *now = arrays[turn];
        int32_t best_before = walk.best;
        turn = 1 - turn;
        walk.left = counted(--left);
        walk.next = arrays[turn];
        walk.n_next = 0;
        bs_name_read(&walk.key, segments->path, segments->len,
                     (size_t)(segment.text - segments->path), segment.len);
        /* Gaps that this segment enters begin at the next one. */
        const uint32_t *at = now;
        const uint32_t *end = now + n_now;
        const uint32_t *end_of_gaps = walk.gaps + walk.n_gaps;
        for (bool is_gap = false;; is_gap = true) {
            for (; at < end; at++)
                step(&walk, *at, is_gap);
            if (is_gap)
                break;
            at = walk.gaps;
            end = end_of_gaps;
        }
        if (walk.best > best_before)
            drop_beaten_gaps(&walk);
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
    if (root->ahead == 0) {
        /* Often this is all: before anything is set up. */
        struct rest rest = {trie, &segments, root->gap, best};
        bool more = leave_gap(&rest);
        best = rest.best;
        if (!more || root->most <= best)
            return best;
    }
    return walk_all(trie, &segments, best);
}
