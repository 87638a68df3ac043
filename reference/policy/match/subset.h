/* The subset construction: the sets of automaton states that a path can lead to, numbered in the
 * order of the search, and the edges between them.
 *
 * All arrays grow on demand: the largest table needs a megabyte, but most tables have some dozen
 * states. */
#ifndef BS_POLICY_MATCH_SUBSET_H
#define BS_POLICY_MATCH_SUBSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/automaton.h"
#include "policy/match/dfa.h"

/* One word of a set. A set lists its words that are not empty, in rising order: most sets are a few
 * states among thousands. */
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
    uint32_t *edges; /* n_classes for each state */
    uint32_t n_states;
    /* The rest serves the construction only. */
    uint32_t max_states;
    size_t states_cap;
    size_t edges_cap;
    struct bs_subset_word *pool; /* the sets of all states, in order */
    size_t pool_len;
    size_t pool_cap;
    struct bs_subset_word *set; /* the current set */
    size_t set_len;
    uint32_t *slots;  /* hash table: a state + 1 */
    uint32_t n_slots; /* a power of two, more than twice n_states */
    bool no_memory;
};

/* `work` is the most words that it may read. The caller clears `subsets` after every result. */
enum bs_dfa_result bs_subsets_build(struct bs_subsets *subsets,
                                    const struct bs_automaton *automaton, uint32_t max_states,
                                    size_t work);
void bs_subsets_clear(struct bs_subsets *subsets);

#endif
