/* The children of nodes by segments with wildcards.
 *
 * Most nodes have few: they are tried one by one, by two words each. A node that has many finds
 * them by a literal piece: by the one at the start or the one at the end of the segment, of which
 * fewer others have the same, else by some bytes of the longest one anywhere. So nothing can
 * explode, and of thousands few are looked at.
 */
#ifndef BS_POLICY_MATCH_WILDS_H
#define BS_POLICY_MATCH_WILDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/names.h"
#include "policy/match/trie_node.h"
#include "policy/match/wild.h"

/* One line of memory. */
struct bs_wild {
    /* What the first and the last eight bytes must be, and the eight before the last. */
    uint64_t first;
    uint64_t first_mask;
    uint64_t last;
    uint64_t last_mask;
    uint64_t inner;
    uint64_t inner_mask;
    uint32_t to;
    int32_t most;     /* of the child */
    uint32_t lengths; /* segments that can be left behind the child */
    uint16_t least;   /* bytes of a match, at least */
    bool is_told;     /* by those bytes alone */
};

_Static_assert(sizeof(struct bs_wild) == BS_TRIE_LINE, "one line of memory");

/* Those of one node. */
struct bs_wild_run {
    uint32_t first;
    uint32_t n;
    uint32_t lengths; /* of all */
    /* Lengths of the pieces that they are found by: bit i is i + 1, or more than eight. */
    uint16_t starts;
    uint16_t ends;
    uint16_t anywhere;
    bool has_others; /* that have no literal piece */
    bool has_keys;   /* no: they are few, and the highest is the first */
};

/* Those of one node that are found by the same piece; the highest is the first. */
struct bs_wild_key {
    uint64_t piece;
    uint32_t run;
    uint32_t kind;
    uint32_t first;
    uint32_t n; /* 0: a free slot */
};

/* Lengths of all pieces that begin, or end, with some bytes. */
#define BS_WILD_OUTER_BITS 11
struct bs_wild_lengths {
    uint16_t starts[1 << BS_WILD_OUTER_BITS];
    uint16_t ends[1 << BS_WILD_OUTER_BITS];
};

struct bs_wilds {
    struct bs_wild *items;
    void *items_block;
    uint32_t n;
    struct bs_wild_run *runs; /* the first is nobody's */
    uint32_t n_runs;
    struct bs_wild_key *slots;       /* by hash */
    uint32_t n_slots;                /* a power of two, or 0 */
    uint32_t shift;                  /* of a hash: the slot */
    struct bs_wild_lengths *lengths; /* by the outer bytes of a piece */
    uint64_t *filter;
    uint32_t filter_shift; /* of a hash: the word of the filter */
};

/* A segment that is looked at. */
struct bs_wild_text {
    const char *text;
    size_t len;
    uint64_t first;
    uint64_t last; /* zeros before fewer than eight bytes */
};

/* Of the nodes that have a wild name; `lengths` are theirs. Tells the parents their runs. */
enum bs_names_result bs_wilds_build(struct bs_wilds *wilds, struct bs_trie_node *nodes,
                                    uint32_t n_nodes, const uint32_t *lengths,
                                    const struct bs_names *names);
void bs_wilds_clear(struct bs_wilds *wilds);
size_t bs_wilds_bytes(const struct bs_wilds *wilds);

/* Calls `found` with some of a run that has keys, each at most once: all others do not match.
 * `seen` is room for a bit for each slot. */
void bs_wilds_find(const struct bs_wilds *wilds, uint32_t run, const struct bs_wild_text *text,
                   uint64_t *seen, void (*found)(void *context, uint32_t first, uint32_t n),
                   void *context);

bool bs_wild_takes_all(const struct bs_wild *wild, const struct bs_trie_node *nodes,
                       const struct bs_names *names, const struct bs_wild_text *text);

static inline bool bs_wild_takes(const struct bs_wild *wild, const struct bs_trie_node *nodes,
                                 const struct bs_names *names, const struct bs_wild_text *text) {
    if ((((wild->first ^ text->first) & wild->first_mask) |
         ((wild->last ^ text->last) & wild->last_mask)) != 0 ||
        text->len < wild->least)
        return false;
    return (wild->is_told && wild->inner_mask == 0) || bs_wild_takes_all(wild, nodes, names, text);
}

static inline struct bs_wild_text bs_wild_text_of(const char *text, size_t len, uint64_t first,
                                                  uint64_t last) {
    return (struct bs_wild_text){text, len, first, len < 8 ? last << 8 * (8 - len) : last};
}

#endif
