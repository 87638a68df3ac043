#include "policy/dfa.h"

#include <stdlib.h>
#include <string.h>

/* Entries in all lists of rules. */
#define MOST_LISTED ((size_t)1 << 19)

/* What the subset construction works on. States are numbered as they are found. */
struct builder {
    const struct bs_automaton *automaton;
    enum bs_dfa_kind kind;
    uint64_t *sets;   /* words of them a state */
    uint32_t *edges;  /* n_classes of them a state */
    int32_t *answers; /* by state */
    uint32_t *slots;  /* hash table: a state + 1 */
    uint32_t n_slots; /* a power of two, more than twice max_states */
    uint32_t n_states;
    uint32_t max_states;
    uint32_t *lists;
    size_t lists_len;
    size_t lists_cap;
};

/* Of one rule that accepts for ever and all below it, only that rule can still be the answer. */
static void drop_beaten(const struct bs_automaton *automaton, uint64_t *set) {
    for (uint32_t i = automaton->words; i-- > 0;) {
        uint64_t forever = set[i] & automaton->forever[i];
        if (forever == 0)
            continue;
        set[i] &= UINT64_MAX << (63 - __builtin_clzll(forever));
        memset(set, 0, i * sizeof *set);
        return;
    }
}

static uint32_t hash_of(const uint64_t *set, uint32_t words) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < words; i++)
        hash = (hash ^ set[i]) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
    return (uint32_t)(hash >> 32);
}

/* The list of the rules that accept, as a place in `lists`; -1 when there is no room for it. */
static int32_t list_of(struct builder *builder, const uint64_t *set) {
    const struct bs_automaton *automaton = builder->automaton;
    size_t most = 1;
    for (uint32_t i = 0; i < automaton->words; i++)
        most += (size_t)__builtin_popcountll(set[i] & automaton->accepting[i]);
    if (most == 1)
        return 0;
    if (builder->lists_len + most > MOST_LISTED)
        return -1;
    if (builder->lists_len + most > builder->lists_cap) {
        size_t cap = (builder->lists_len + most) * 2;
        uint32_t *grown = realloc(builder->lists, cap * sizeof *grown);
        if (grown == NULL)
            return -1;
        builder->lists = grown;
        builder->lists_cap = cap;
    }
    uint32_t *list = builder->lists + builder->lists_len;
    uint32_t n = 0;
    for (uint32_t i = 0; i < automaton->words; i++) {
        for (uint64_t left = set[i] & automaton->accepting[i]; left != 0; left &= left - 1) {
            uint32_t rule = automaton->rule_of[i * 64 + (uint32_t)__builtin_ctzll(left)];
            if (n == 0 || list[n] != rule)
                list[++n] = rule;
        }
    }
    list[0] = n;
    int32_t at = (int32_t)builder->lists_len;
    builder->lists_len += n + 1;
    return at;
}

/* The number of this set, a new one if need be: max_states when there is no room, or no memory. */
static uint32_t intern(struct builder *builder, const uint64_t *set) {
    uint32_t words = builder->automaton->words;
    uint32_t mask = builder->n_slots - 1;
    uint32_t slot = hash_of(set, words) & mask;
    for (; builder->slots[slot] != 0; slot = (slot + 1) & mask) {
        uint32_t state = builder->slots[slot] - 1;
        if (memcmp(builder->sets + (size_t)state * words, set, words * sizeof *set) == 0)
            return state;
    }
    if (builder->n_states == builder->max_states)
        return builder->max_states;
    uint32_t state = builder->n_states;
    int32_t answer = builder->kind == BS_DFA_ALL
                         ? list_of(builder, set)
                         : (int32_t)bs_automaton_accepts(builder->automaton, set);
    if (builder->kind == BS_DFA_ALL && answer < 0)
        return builder->max_states;
    builder->answers[state] = answer;
    memcpy(builder->sets + (size_t)state * words, set, words * sizeof *set);
    builder->slots[slot] = state + 1;
    builder->n_states++;
    return state;
}

static bool explore(struct builder *builder, uint64_t *set) {
    const struct bs_automaton *automaton = builder->automaton;
    uint32_t words = automaton->words;
    memcpy(set, automaton->initial, words * sizeof *set);
    if (builder->kind == BS_DFA_HIGHEST)
        drop_beaten(automaton, set);
    if (intern(builder, set) == builder->max_states)
        return false;
    for (uint32_t state = 0; state < builder->n_states; state++) {
        for (uint32_t class = 0; class < automaton->n_classes; class ++) {
            bs_automaton_step(automaton, (uint8_t) class, builder->sets + (size_t)state * words,
                              set);
            if (builder->kind == BS_DFA_HIGHEST)
                drop_beaten(automaton, set);
            uint32_t to = intern(builder, set);
            if (to == builder->max_states)
                return false;
            builder->edges[(size_t)state * automaton->n_classes + class] = to;
        }
    }
    return true;
}

static bool same_column(const struct builder *builder, uint32_t a, uint32_t b) {
    uint32_t n_classes = builder->automaton->n_classes;
    for (uint32_t state = 0; state < builder->n_states; state++) {
        const uint32_t *row = builder->edges + (size_t)state * n_classes;
        if (row[a] != row[b])
            return false;
    }
    return true;
}

/* Bytes that are told apart by no state after all share a column. Returns how many are left. */
static uint32_t merge_columns(const struct builder *builder, uint8_t *merged, uint8_t *first) {
    uint32_t n = 0;
    for (uint32_t class = 0; class < builder->automaton->n_classes; class ++) {
        uint32_t to = 0;
        while (to < n && !same_column(builder, first[to], class))
            to++;
        if (to == n)
            first[n++] = (uint8_t) class;
        merged[class] = (uint8_t)to;
    }
    return n;
}

static bool is_settled(const struct builder *builder, uint32_t state) {
    uint32_t n_classes = builder->automaton->n_classes;
    const uint32_t *row = builder->edges + (size_t)state * n_classes;
    for (uint32_t class = 0; class < n_classes; class ++) {
        if (row[class] != state)
            return false;
    }
    return true;
}

static uint32_t order_states(const struct builder *builder, uint32_t *row_of) {
    uint32_t n = 0;
    uint32_t n_settled = 0;
    for (int settled = 1; settled >= 0; settled--) {
        for (uint32_t state = 0; state < builder->n_states; state++) {
            if (is_settled(builder, state) == (settled == 1))
                row_of[state] = n++;
        }
        if (settled == 1)
            n_settled = n;
    }
    return n_settled;
}

static enum bs_dfa_result write_table(struct bs_dfa *dfa, const struct builder *builder,
                                      uint32_t *row_of, size_t most_entries) {
    const struct bs_automaton *automaton = builder->automaton;
    uint8_t merged[256];
    uint8_t first[256];
    uint32_t n_classes = merge_columns(builder, merged, first);
    uint32_t stride = n_classes + 1;
    size_t entries = (size_t)builder->n_states * stride;
    if (entries > most_entries)
        return BS_DFA_TOO_LARGE;
    uint32_t n_settled = order_states(builder, row_of);
    dfa->next = malloc(entries * sizeof *dfa->next);
    dfa->answers = malloc(builder->n_states * sizeof *dfa->answers);
    if (dfa->next == NULL || dfa->answers == NULL)
        return BS_DFA_NO_MEMORY;
    for (uint32_t state = 0; state < builder->n_states; state++) {
        uint32_t *row = dfa->next + (size_t)row_of[state] * stride;
        const uint32_t *edges = builder->edges + (size_t)state * automaton->n_classes;
        for (uint32_t class = 0; class < n_classes; class ++)
            row[class] = row_of[edges[first[class]]] * stride;
        row[n_classes] = row_of[state];
        dfa->answers[row_of[state]] = builder->answers[state];
    }
    for (unsigned c = 0; c < 256; c++)
        dfa->class_of[c] = merged[automaton->class_of[c]];
    dfa->n_states = builder->n_states;
    dfa->stride = stride;
    dfa->start = row_of[0] * stride;
    dfa->settled = n_settled * stride;
    dfa->bytes = entries * sizeof *dfa->next + builder->n_states * sizeof *dfa->answers +
                 builder->lists_len * sizeof *builder->lists;
    return BS_DFA_BUILT;
}

enum bs_dfa_result bs_dfa_build(struct bs_dfa *dfa, const struct bs_automaton *automaton,
                                enum bs_dfa_kind kind, struct bs_dfa_limits limits) {
    *dfa = (struct bs_dfa){0};
    uint32_t words = automaton->words;
    size_t row_work = (size_t)automaton->n_classes * words;
    struct builder builder = {.automaton = automaton, .kind = kind, .n_slots = 1, .lists_len = 1};
    /* Merging columns halves most tables. */
    size_t max_states = 2 * limits.entries / (automaton->n_classes + 1U);
    if (row_work == 0 || max_states * row_work > limits.work)
        max_states = row_work == 0 ? 0 : limits.work / row_work;
    if (max_states < 2)
        return BS_DFA_TOO_LARGE;
    builder.max_states = (uint32_t)max_states;
    while (builder.n_slots <= 2 * builder.max_states)
        builder.n_slots *= 2;
    enum bs_dfa_result result = BS_DFA_NO_MEMORY;
    builder.sets = malloc((max_states + 1) * words * sizeof *builder.sets);
    builder.edges = malloc(max_states * automaton->n_classes * sizeof *builder.edges);
    builder.answers = malloc(max_states * sizeof *builder.answers);
    builder.slots = calloc(builder.n_slots, sizeof *builder.slots);
    builder.lists = calloc(1, sizeof *builder.lists); /* the empty list */
    builder.lists_cap = 1;
    if (builder.sets == NULL || builder.edges == NULL || builder.answers == NULL ||
        builder.slots == NULL || builder.lists == NULL)
        goto finish;
    result = BS_DFA_TOO_LARGE;
    if (explore(&builder, builder.sets + max_states * words))
        result = write_table(dfa, &builder, builder.slots, limits.entries);
    if (result == BS_DFA_BUILT) {
        dfa->lists = builder.lists;
        builder.lists = NULL;
    } else {
        bs_dfa_clear(dfa);
    }
finish:
    free(builder.sets);
    free(builder.edges);
    free(builder.answers);
    free(builder.slots);
    free(builder.lists);
    return result;
}

void bs_dfa_clear(struct bs_dfa *dfa) {
    free(dfa->next);
    free(dfa->answers);
    free(dfa->lists);
    *dfa = (struct bs_dfa){0};
}
