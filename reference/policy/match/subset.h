/* The subset construction. It finds all sets of automaton states that a path can lead to, and the
 * edges between them. The sets are numbered in the order in which they are found.
 *
 * All arrays grow when needed, because the largest table needs a megabyte but most tables have only
 * some dozen states. */
#ifndef BS_POLICY_MATCH_SUBSET_H
#define BS_POLICY_MATCH_SUBSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/automaton.h"
#include "policy/match/dfa.h"

/* One word of a set. A set is stored as the list of its nonzero words in rising order, because most
 * sets have only a few of thousands of states. */
struct bs_subset_word {
    uint64_t bits;
    uint32_t at;
};

struct bs_subset_state {
    size_t begin; /* begin and end of the set in the pool */
    size_t end;
    uint32_t hash;
    int32_t answer; /* the highest rule that accepts, or BS_NO_RULE */
};

struct bs_subsets {
    const struct bs_automaton *automaton;
    struct bs_subset_state *states;
    uint32_t *edges; /* n_classes edges for each state */
    uint32_t n_states;
    /* The fields from here on are used only during the construction. */
    uint32_t max_states;
    size_t states_cap;
    size_t edges_cap;
    struct bs_subset_word *pool; /* the sets of all states, one after the other */
    size_t pool_len;
    size_t pool_cap;
    struct bs_subset_word *set; /* the current set, which is being built */
    size_t set_len;
    uint32_t *slots;  /* hash table; an entry is the number of a state plus 1, or 0 */
    uint32_t n_slots; /* a power of two, more than twice n_states */
    bool no_memory;
};

/* Find all sets and the edges between them. `work` limits the number of words that are read. The
 * caller clears `subsets` afterwards, whatever the result. */
enum bs_dfa_result bs_subsets_build(struct bs_subsets *subsets,
                                    const struct bs_automaton *automaton, uint32_t max_states,
                                    size_t work);
void bs_subsets_clear(struct bs_subsets *subsets);

#endif
