/* A node of the trie: the beginning of some rules. One line of memory, so that a step of a walk
 * touches as little as can be. */
#ifndef BS_POLICY_MATCH_TRIE_NODE_H
#define BS_POLICY_MATCH_TRIE_NODE_H

#include <stddef.h>
#include <stdint.h>

#define BS_TRIE_LINE 64

/* Sets of numbers of segments: bit r is r, and the last one is that and all more. */
#define BS_TRIE_MOST_COUNTED 31

struct bs_trie_node {
    /* How it is reached, unless by `*` or `**`: policy/match/names.h. */
    union {
        uint64_t first;
        uint64_t mark; /* of a gap that can be entered again: its bit, plus one */
    };
    uint64_t last;
    uint32_t from;
    uint32_t id;

    int32_t rule;  /* the highest that ends here, or BS_NO_RULE */
    int32_t below; /* the highest that is this and everything below */
    int32_t most;  /* the highest at or under this node */

    /* How many segments of a path can be left for a rule to match. So a walk asks only for what can
     * still come to an end with the path. */
    uint32_t ahead; /* by children other than the gap */
    uint32_t names; /* behind a child that has a literal name */
    uint32_t stars; /* behind the child by `*` */

    uint32_t star; /* the child by `*`; 0: none */
    uint32_t gap;  /* the child by `**`; 0: none */
    uint32_t wild; /* the children by other wildcards: policy/match/wilds.h; 0: none */

    uint32_t hashes; /* of the children by literal names, five bits of each as one of these */
};

_Static_assert(sizeof(struct bs_trie_node) == BS_TRIE_LINE, "one line of memory");

#endif
