#include "policy/match/dfa.h"

#include <stdlib.h>
#include <string.h>

#include "policy/match/subset.h"

static bool same_column(const struct bs_subsets *subsets, uint32_t a, uint32_t b) {
    uint32_t n_classes = subsets->automaton->n_classes;
    for (uint32_t state = 0; state < subsets->n_states; state++) {
        const uint32_t *row = subsets->edges + (size_t)state * n_classes;
        if (row[a] != row[b])
            return false;
    }
    return true;
}

/* Merge classes whose columns of the table are equal. Returns the number of different columns. */
static uint32_t merge_columns(const struct bs_subsets *subsets, uint8_t *merged, uint8_t *first) {
    uint32_t n = 0;
    for (uint32_t class = 0; class < subsets->automaton->n_classes; class ++) {
        uint32_t to = 0;
        while (to < n && !same_column(subsets, first[to], class))
            to++;
        if (to == n)
            first[n++] = (uint8_t) class;
        merged[class] = (uint8_t)to;
    }
    return n;
}

static bool is_settled(const struct bs_subsets *subsets, uint32_t state) {
    uint32_t n_classes = subsets->automaton->n_classes;
    const uint32_t *row = subsets->edges + (size_t)state * n_classes;
    for (uint32_t class = 0; class < n_classes; class ++) {
        if (row[class] != state)
            return false;
    }
    return true;
}

static uint32_t order_states(const struct bs_subsets *subsets, uint32_t *row_of) {
    uint32_t n = 0;
    uint32_t n_settled = 0;
    for (int settled = 1; settled >= 0; settled--) {
        for (uint32_t state = 0; state < subsets->n_states; state++) {
            if (is_settled(subsets, state) == (settled == 1))
                row_of[state] = n++;
        }
        if (settled == 1)
            n_settled = n;
    }
    return n_settled;
}

static enum bs_dfa_result write_table(struct bs_dfa *dfa, const struct bs_subsets *subsets,
                                      uint32_t *row_of, size_t most_entries) {
    const struct bs_automaton *automaton = subsets->automaton;
    uint8_t merged[256];
    uint8_t first[256];
    uint32_t n_classes = merge_columns(subsets, merged, first);
    uint32_t stride = n_classes + 1;
    size_t entries = (size_t)subsets->n_states * stride;
    if (entries > most_entries)
        return BS_DFA_TOO_LARGE;
    uint32_t n_settled = order_states(subsets, row_of);
    dfa->next = malloc(entries * sizeof *dfa->next); /* NOLINT: there is at least one state */
    dfa->answers = malloc(subsets->n_states * sizeof *dfa->answers);
    if (dfa->next == NULL || dfa->answers == NULL)
        return BS_DFA_NO_MEMORY;
    for (uint32_t state = 0; state < subsets->n_states; state++) {
        uint16_t *row = dfa->next + (size_t)row_of[state] * stride;
        const uint32_t *edges = subsets->edges + (size_t)state * automaton->n_classes;
        for (uint32_t class = 0; class < n_classes; class ++)
            row[class] = (uint16_t)(row_of[edges[first[class]]] * stride);
        row[n_classes] = (uint16_t)row_of[state];
        dfa->answers[row_of[state]] = subsets->states[state].answer;
    }
    for (unsigned c = 0; c < 256; c++)
        dfa->class_of[c] = merged[automaton->class_of[c]];
    dfa->n_states = subsets->n_states;
    dfa->stride = stride;
    dfa->start = row_of[0] * stride;
    dfa->settled = n_settled * stride;
    dfa->bytes = entries * sizeof *dfa->next + subsets->n_states * sizeof *dfa->answers;
    return BS_DFA_BUILT;
}

enum bs_dfa_result bs_dfa_build(struct bs_dfa *dfa, const struct bs_automaton *automaton,
                                struct bs_dfa_limits limits) {
    *dfa = (struct bs_dfa){0};
    struct bs_subsets subsets;
    /* Merging columns makes most tables half as large, so twice the permitted number of states is
     * tried. */
    size_t max_states = 2 * limits.entries / (automaton->n_classes + 1U);
    enum bs_dfa_result result =
        bs_subsets_build(&subsets, automaton, (uint32_t)max_states, limits.work);
    /* The construction no longer needs the hash slots, so their memory is used for the rows. */
    if (result == BS_DFA_BUILT)
        result = write_table(dfa, &subsets, subsets.slots, limits.entries);
    if (result != BS_DFA_BUILT)
        bs_dfa_clear(dfa);
    bs_subsets_clear(&subsets);
    return result;
}

void bs_dfa_clear(struct bs_dfa *dfa) {
    free(dfa->next);
    free(dfa->answers);
    *dfa = (struct bs_dfa){0};
}
