/* An automaton turned into a transition table ahead of time: one look-up for each byte of the
 * path.
 *
 * Some globs double the number of states with each character, so the size of a table and the work
 * of building it are bounded. If a bound is exceeded there is no table, and the caller uses the
 * automaton itself or the index.
 *
 * After a rule accepts every continuation, no lower rule can decide, and the construction drops
 * their states. This keeps the tables of ordinary rules small, and it lets a walk end early. */
#ifndef BS_POLICY_MATCH_DFA_H
#define BS_POLICY_MATCH_DFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/automaton.h"

/* An automaton with more states is not tried. */
#define BS_DFA_MOST_STATES_IN 4096

/* Bounds of a table. A millisecond is some million word operations. */
struct bs_dfa_limits {
    size_t entries; /* of two bytes, at most 65,536 */
    size_t work;    /* word operations of its construction */
};

struct bs_dfa {
    uint8_t class_of[256];
    uint16_t *next; /* rows of one entry a class (where the row of the next state begins) and one
                       for the end of the path (which of the answers) */
    uint32_t n_states;
    uint32_t stride;
    uint32_t start;
    uint32_t settled; /* rows below this one lead only to themselves */
    int32_t *answers; /* a rule or BS_NO_RULE */
    size_t bytes;
};

enum bs_dfa_result { BS_DFA_BUILT, BS_DFA_TOO_LARGE, BS_DFA_NO_MEMORY };

enum bs_dfa_result bs_dfa_build(struct bs_dfa *dfa, const struct bs_automaton *automaton,
                                struct bs_dfa_limits limits);
void bs_dfa_clear(struct bs_dfa *dfa);

/* Returns the row after a byte; the first row is `start`. */
static inline uint32_t bs_dfa_step(const struct bs_dfa *dfa, uint32_t row, char c) {
    /* The class is known before the row is, so this sum can be, too. The compiler must not add
     * the row to the class first. */
    const uint16_t *column = dfa->next + dfa->class_of[(unsigned char)c];
    __asm__("" : "+r"(column));
    return column[row];
}

/* Returns the highest rule that matches if the path ends in this row, or BS_NO_RULE. */
static inline int32_t bs_dfa_answer(const struct bs_dfa *dfa, uint32_t row) {
    return dfa->answers[dfa->next[row + dfa->stride - 1]];
}

#endif
