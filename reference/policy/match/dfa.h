/* An automaton that is turned into a transition table in advance, so that a match takes one look-up
 * for each byte of the path.
 *
 * With some globs the number of states doubles with each character. So the size of a table and the
 * work of building it are limited. Beyond the limits there is no table, and the caller uses the
 * automaton itself or the index.
 *
 * Once a rule accepts every continuation of a path, no lower rule can decide. The construction then
 * drops the states of lower rules. This keeps the tables of ordinary rules small, and a match can
 * end before the end of the path. */
#ifndef BS_POLICY_MATCH_DFA_H
#define BS_POLICY_MATCH_DFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/automaton.h"

/* For an automaton with more states, no table is tried. */
#define BS_DFA_MOST_STATES_IN 4096

/* Limits of a table and its construction. A processor does several million word operations in a
 * millisecond. */
struct bs_dfa_limits {
    size_t entries; /* entries of two bytes; at most 65,536 */
    size_t work;    /* word operations of the construction */
};

struct bs_dfa {
    uint8_t class_of[256];
    /* One row for each state. A row has one entry for each class, which is the position of the row
     * of the next state, and one entry for the end of the path, which is an index of `answers`. */
    uint16_t *next;
    uint32_t n_states;
    uint32_t stride;
    uint32_t start;
    uint32_t settled; /* a state whose row is below this number is never left */
    int32_t *answers; /* each is a rule or BS_NO_RULE */
    size_t bytes;
};

enum bs_dfa_result { BS_DFA_BUILT, BS_DFA_TOO_LARGE, BS_DFA_NO_MEMORY };

enum bs_dfa_result bs_dfa_build(struct bs_dfa *dfa, const struct bs_automaton *automaton,
                                struct bs_dfa_limits limits);
void bs_dfa_clear(struct bs_dfa *dfa);

/* Return the row after a byte. The first row is `start`. */
static inline uint32_t bs_dfa_step(const struct bs_dfa *dfa, uint32_t row, char c) {
    /* Add the class of the byte first, and the row second. The first sum does not depend on the
     * row, so the processor can compute it before the row is known. In the other order each step
     * would wait for the one before it. */
    const uint16_t *column = dfa->next + dfa->class_of[(unsigned char)c];
    __asm__("" : "+r"(column));
    return column[row];
}

/* Of the rules that match a path which ends in this row, return the highest number. Return
 * BS_NO_RULE if no rule matches. */
static inline int32_t bs_dfa_answer(const struct bs_dfa *dfa, uint32_t row) {
    return dfa->answers[dfa->next[row + dfa->stride - 1]];
}

#endif
