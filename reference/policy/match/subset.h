/* The subset construction: the sets of states of an automaton that a path can lead to, numbered as
 * they are found, and the edges between them.
 *
 * All of it grows with what is found: the largest table would take a megabyte to ask for, and most
 * have some dozen states.
 */
#ifndef BS_POLICY_MATCH_SUBSET_H
#define BS_POLICY_MATCH_SUBSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/automaton.h"
#include "policy/match/dfa.h"

/* A set as its words that are not empty, rising. Most sets are a few states among thousands. */
struct bs_subset_word {
    uint64_t bits;
    uint32_t at;
};

struct bs_subset_state {
    size_t begin; /* of its set in the pool */
    size_t end;
    uint32_t hash;
    int32_t answer; /* a rule or BS_NO_RULE */
};

struct bs_subsets {
    const struct bs_automaton *automaton;
    struct bs_subset_state *states;
    uint32_t *edges; /* n_classes of them a state */
    uint32_t n_states;
    /* What follows is for the construction alone. */
    uint32_t max_states;
    size_t states_cap;
    size_t edges_cap;
    struct bs_subset_word *pool; /* the sets of all states, one behind the other */
    size_t pool_len;
    size_t pool_cap;
    struct bs_subset_word *set; /* the one that is being made */
    size_t set_len;
    uint32_t *slots;  /* hash table: a state + 1 */
    uint32_t n_slots; /* a power of two, more than twice n_states */
    bool no_memory;
};

/* `work` words may be looked at. To be cleared, whatever comes back. */
enum bs_dfa_result bs_subsets_build(struct bs_subsets *subsets,
                                    const struct bs_automaton *automaton, uint32_t max_states,
                                    size_t work);
void bs_subsets_clear(struct bs_subsets *subsets);

#endif
