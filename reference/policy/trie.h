/* Many rules as one trie of segments: what a path costs depends on its segments and on how many
 * rules begin like it, not on how many there are.
 *
 * A node stands for the beginning of rules, edges are segments. Literal segments and `*.ext` are
 * found by hashing, the remaining wildcard segments by a literal piece of each. `**` is a node that
 * stays alive. Rules that do not fit (`a**b`, very long ones, what policy/wild.h does not take) are
 * left to the caller.
 */
#ifndef BS_POLICY_TRIE_H
#define BS_POLICY_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/edges.h"
#include "policy/matcher.h"
#include "policy/pieces.h"
#include "policy/symbols.h"

/* Nodes that may be alive at once: three arrays of that many on the stack. */
#define BS_TRIE_MOST_ALIVE 4096
#define BS_TRIE_MOST_DEPTH 32        /* segments of a rule */
#define BS_TRIE_LONGEST_EXTENSION 32 /* bytes, with the dot */
#define BS_TRIE_MOST_BYTES ((size_t)40 << 20)
/* Different wildcard segments: a list of that many on the stack. */
#define BS_TRIE_MOST_WILD 16384

/* The first ones are the anchors of wildcard segments. */
enum {
    BS_EDGES_WILD = (1 << BS_ANCHORS) - 1,
    BS_EDGES_LITERAL = 1 << BS_ANCHORS,
    BS_EDGES_EXTENSION = BS_EDGES_LITERAL << 1,
    BS_EDGES_STAR = BS_EDGES_LITERAL << 2
};

/* Symbols of wildcard segments are counted apart. */
#define BS_WILD_SYMBOL UINT32_C(0x80000000)

/* The owner of a symbol is the one node that has an edge by it, plus one, or this. Most segments
 * are used at one place: nobody else need look for an edge, and the owner's child is known. */
#define BS_MANY_OWNERS UINT32_MAX

struct bs_trie_node {
    int32_t rule;    /* the highest that ends here, or BS_NO_RULE */
    int32_t below;   /* the highest that is this and everything below */
    int32_t most;    /* the highest at or under this node */
    uint32_t star;   /* the child by `*`; 0: none */
    uint32_t gap;    /* the child by `**`; 0: none */
    uint32_t mark;   /* of a gap that can be entered again: its bit, plus one */
    uint8_t edges;   /* which kinds there are */
    uint8_t through; /* ..., of those that lead on: what is asked before the last segment */
    uint8_t ends;    /* ..., of those where something ends: what is asked at the last one */
};

struct bs_trie {
    struct bs_symbols symbols;
    struct bs_symbols wilds;
    struct bs_pieces pieces[BS_ANCHORS];
    /* Segments `piece*.ext`, of which one piece often has dozens: from the state of the piece and
     * the symbol of the extension to the symbol of the segment. */
    struct bs_edges pairs;
    struct bs_trie_node *nodes; /* the first is the root */
    uint32_t n_nodes;
    uint32_t cap_nodes;
    struct bs_edges edges; /* from node and symbol to node */
    uint64_t extension_lengths;
    uint32_t width; /* nodes alive at once, at most */
    uint32_t n_marks;
};

enum bs_trie_result {
    BS_TRIE_OK,
    BS_TRIE_UNFIT,     /* too many nodes would be alive at once */
    BS_TRIE_TOO_LARGE, /* at rule *broke */
    BS_TRIE_NO_MEMORY
};

/* Takes in what fits of the rules that are not in `left` yet; those that do not are added to it. On
 * failure the trie is empty. */
enum bs_trie_result bs_trie_build(struct bs_trie *trie, const struct bs_pattern *patterns, size_t n,
                                  bool *left, size_t *broke);
void bs_trie_clear(struct bs_trie *trie);
size_t bs_trie_bytes(const struct bs_trie *trie);

/* The highest rule that matches the path, if it is higher than `best`, and else that. */
int32_t bs_trie_highest(const struct bs_trie *trie, const struct bs_path_view *path, int32_t best);

#endif
