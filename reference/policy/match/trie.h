/* Many rules as one trie of segments: what a path costs depends on its segments and on how many
 * rules begin like it, not on how many there are.
 *
 * A node stands for the beginning of rules, edges are segments: literal ones are found by hashing,
 * those with wildcards as policy/match/wilds.h has it. `**` is a node that stays alive. Each node
 * knows how many segments can follow, so that a walk asks nothing that cannot come true. Rules that
 * do not fit (`a**b`, very long ones, what policy/match/wild.h does not take) are left to the
 * caller.
 */
#ifndef BS_POLICY_MATCH_TRIE_H
#define BS_POLICY_MATCH_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/matcher.h"
#include "policy/match/names.h"
#include "policy/match/trie_node.h"
#include "policy/match/wilds.h"

/* Nodes that may be alive at once: three arrays of that many on the stack. */
#define BS_TRIE_MOST_ALIVE 4096
#define BS_TRIE_MOST_DEPTH 32 /* segments of a rule */
#define BS_TRIE_MOST_BYTES ((size_t)40 << 20)
#define BS_TRIE_MOST_WILD 16384 /* segments with wildcards behind one node */

struct bs_trie {
    struct bs_names names;
    struct bs_wilds wilds;
    struct bs_trie_node *nodes; /* the first is the root */
    void *nodes_block;
    uint32_t n_nodes;
    uint32_t cap_nodes;
    uint32_t n_wild; /* nodes that are reached by wildcards */
    uint32_t width;  /* nodes alive at once, at most */
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
