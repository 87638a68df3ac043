/* An automaton turned into a table ahead of time: one look-up for each byte of the path.
 *
 * What is built is capped, by the size of the table and by the work it takes, since some globs
 * double the states with each character. Nothing is lost then: the automaton itself still runs.
 *
 * A rule that accepts whatever follows makes every lower rule pointless from there on, so the
 * states of those are dropped. This running maximum is what keeps the table of ordinary rules
 * small, and where nothing is left to decide, the walk ends early.
 */
#ifndef BS_POLICY_MATCH_DFA_H
#define BS_POLICY_MATCH_DFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/automaton.h"

/* Of an automaton that is worth the attempt. */
#define BS_DFA_MOST_STATES_IN 4096

/* How large a table may become and how many word operations building it may take (some million a
 * millisecond). */
struct bs_dfa_limits {
    size_t entries; /* of two bytes, at most 65,536 */
    size_t work;
};

struct bs_dfa {
    uint8_t class_of[256];
    uint16_t *next; /* rows of one entry a class (where the row of the next state begins) and one
                       for the end of the path (which of the answers) */
    uint32_t n_states;
    uint32_t stride;
    uint32_t start;
    uint32_t settled; /* rows below this one lead to themselves only */
    int32_t *answers; /* a rule or BS_NO_RULE */
    size_t bytes;
};

enum bs_dfa_result { BS_DFA_BUILT, BS_DFA_TOO_LARGE, BS_DFA_NO_MEMORY };

enum bs_dfa_result bs_dfa_build(struct bs_dfa *dfa, const struct bs_automaton *automaton,
                                struct bs_dfa_limits limits);
void bs_dfa_clear(struct bs_dfa *dfa);

/* The row behind a byte; the first is `start`. */
static inline uint32_t bs_dfa_step(const struct bs_dfa *dfa, uint32_t row, char c) {
    /* The class does not wait for the row, so the sum must not either; the compiler shall not add
     * the row to the class first. */
    const uint16_t *column = dfa->next + dfa->class_of[(unsigned char)c];
    __asm__("" : "+r"(column));
    return column[row];
}

/* The highest rule that matches when the path ends in this row, or BS_NO_RULE. */
static inline int32_t bs_dfa_answer(const struct bs_dfa *dfa, uint32_t row) {
    return dfa->answers[dfa->next[row + dfa->stride - 1]];
}

#endif
