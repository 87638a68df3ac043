#include "policy/dfa.h"

#include <stdlib.h>
#include <string.h>

/* A set of states as the words that are not empty, rising. Most sets are a few states among
 * thousands. */
struct word {
    uint64_t bits;
    uint32_t at;
};

/* What the subset construction works on. States are numbered as they are found. */
struct builder {
    const struct bs_automaton *automaton;
    struct word *pool; /* the sets of all states, one behind the other */
    size_t pool_len;
    size_t pool_cap;
    struct word *set; /* the one that is being made */
    size_t set_len;
    size_t *begins;   /* by state, and one more: where its set begins in the pool */
    uint32_t *edges;  /* n_classes of them a state */
    int32_t *answers; /* by state */
    uint32_t *slots;  /* hash table: a state + 1 */
    uint32_t n_slots; /* a power of two, more than twice max_states */
    uint32_t n_states;
    uint32_t max_states;
    size_t work; /* words that may still be looked at */
    bool no_memory;
};

static void append(struct builder *builder, uint32_t at, uint64_t bits) {
    if (bits != 0)
        builder->set[builder->set_len++] = (struct word){bits, at};
}

/* What is carried into a word: states that were entered, and states behind gaps that were. */
enum { CARRY_ENTERED = 1, CARRY_SKIPPED = 2 };

/* A word after a step: the states that were entered in it, and those that stay. */
static uint64_t grown(const struct bs_automaton *automaton, uint32_t at, uint64_t entered,
                      uint64_t stay, unsigned carry, unsigned *carry_out) {
    entered |= carry & CARRY_ENTERED;
    uint64_t skipped = entered & automaton->gaps[at];
    *carry_out |= skipped >> 63 != 0 ? CARRY_SKIPPED : 0;
    return entered | stay | skipped << 1 | (carry / CARRY_SKIPPED);
}

/* Of one rule that accepts for ever and all below it, only that rule can still be the answer. */
static void drop_beaten_forever(struct builder *builder) {
    for (size_t i = builder->set_len; i-- > 0;) {
        struct word *word = &builder->set[i];
        uint64_t forever = word->bits & builder->automaton->forever[word->at];
        if (forever == 0)
            continue;
        word->bits &= UINT64_MAX << (63 - __builtin_clzll(forever));
        builder->set_len -= i;
        memmove(builder->set, word, builder->set_len * sizeof *word);
        return;
    }
}

/* A rule that accepts for the rest of the segment beats the lower ones that are in their last
 * segment too. Without this, each rule `*x*` would double the states. */
static void drop_beaten_in_segment(struct builder *builder) {
    const struct bs_automaton *automaton = builder->automaton;
    size_t kept = 0;
    size_t i = builder->set_len;
    uint64_t beats = 0;
    while (i > 0 && beats == 0) {
        const struct word *word = &builder->set[--i];
        beats = word->bits & automaton->accepting[word->at] & automaton->last[word->at] &
                automaton->loop[BS_LOOP_OTHER][word->at];
    }
    if (beats == 0)
        return;
    uint64_t below = (UINT64_C(1) << (63 - __builtin_clzll(beats))) - 1;
    builder->set[i].bits &= ~(below & automaton->last[builder->set[i].at]);
    for (size_t k = 0; k < builder->set_len; k++) {
        struct word word = builder->set[k];
        if (k < i)
            word.bits &= ~automaton->last[word.at];
        if (word.bits != 0)
            builder->set[kept++] = word;
    }
    builder->set_len = kept;
}

static void drop_beaten(struct builder *builder) {
    drop_beaten_forever(builder);
    drop_beaten_in_segment(builder);
}

/* One byte of the class, as bs_automaton_step, from the set of a state. */
static void step(struct builder *builder, uint32_t state, uint32_t class) {
    const struct bs_automaton *automaton = builder->automaton;
    const uint64_t *consume = automaton->consume + (size_t) class * automaton->words;
    const uint64_t *loop = automaton->loop[automaton->loop_of[class]];
    const struct word *word = builder->pool + builder->begins[state];
    const struct word *end = builder->pool + builder->begins[state + 1];
    unsigned carry = 0;
    uint32_t carry_at = 0;
    builder->set_len = 0;
    for (; word < end; word++) {
        unsigned next = 0;
        if (carry != 0 && carry_at != word->at) {
            append(builder, carry_at, grown(automaton, carry_at, 0, 0, carry, &next));
            carry = 0;
        }
        uint64_t gone = word->bits & consume[word->at];
        next = gone >> 63 != 0 ? CARRY_ENTERED : 0;
        append(builder, word->at,
               grown(automaton, word->at, gone << 1, word->bits & loop[word->at], carry, &next));
        carry = next;
        carry_at = word->at + 1;
    }
    if (carry != 0)
        append(builder, carry_at, grown(automaton, carry_at, 0, 0, carry, &carry));
    drop_beaten(builder);
}

static uint32_t hash_of(const struct builder *builder) {
    uint64_t hash = 0;
    for (size_t i = 0; i < builder->set_len; i++) {
        hash = (hash ^ builder->set[i].bits) * UINT64_C(0x9E3779B97F4A7C15);
        hash = (hash ^ hash >> 29 ^ builder->set[i].at) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return (uint32_t)(hash >> 32);
}

static bool is_set_of(const struct builder *builder, uint32_t state) {
    const struct word *word = builder->pool + builder->begins[state];
    if (builder->begins[state + 1] - builder->begins[state] != builder->set_len)
        return false;
    for (size_t i = 0; i < builder->set_len; i++) {
        if (word[i].at != builder->set[i].at || word[i].bits != builder->set[i].bits)
            return false;
    }
    return true;
}

static bool reserve(void **block, size_t *cap, size_t want, size_t size) {
    if (want <= *cap)
        return true;
    void *grown = realloc(*block, want * 2 * size);
    if (grown == NULL)
        return false;
    *block = grown;
    *cap = want * 2;
    return true;
}

static int32_t highest_of(const struct builder *builder) {
    const struct bs_automaton *automaton = builder->automaton;
    for (size_t i = builder->set_len; i-- > 0;) {
        uint32_t at = builder->set[i].at;
        uint64_t accepting = builder->set[i].bits & automaton->accepting[at];
        if (accepting != 0)
            return (int32_t)
                automaton->rule_of[at * 64 + 63U - (uint32_t)__builtin_clzll(accepting)];
    }
    return BS_NO_RULE;
}

/* The number of the set, a new one if need be: max_states when there is no room, or no memory. */
static uint32_t intern(struct builder *builder) {
    uint32_t mask = builder->n_slots - 1;
    uint32_t slot = hash_of(builder) & mask;
    for (; builder->slots[slot] != 0; slot = (slot + 1) & mask) {
        if (is_set_of(builder, builder->slots[slot] - 1))
            return builder->slots[slot] - 1;
    }
    if (builder->n_states == builder->max_states)
        return builder->max_states;
    uint32_t state = builder->n_states;
    if (!reserve((void **)&builder->pool, &builder->pool_cap, builder->pool_len + builder->set_len,
                 sizeof *builder->pool)) {
        builder->no_memory = true;
        return builder->max_states;
    }
    if (builder->set_len > 0)
        memcpy(builder->pool + builder->pool_len, builder->set,
               builder->set_len * sizeof *builder->set);
    builder->pool_len += builder->set_len;
    builder->begins[state + 1] = builder->pool_len;
    builder->answers[state] = highest_of(builder);
    builder->slots[slot] = state + 1;
    builder->n_states++;
    return state;
}

/* False when it takes too many states or too much work. */
static bool explore(struct builder *builder) {
    const struct bs_automaton *automaton = builder->automaton;
    for (uint32_t at = 0; at < automaton->words; at++)
        append(builder, at, automaton->initial[at]);
    drop_beaten(builder);
    if (intern(builder) == builder->max_states)
        return false;
    for (uint32_t state = 0; state < builder->n_states; state++) {
        size_t words = builder->begins[state + 1] - builder->begins[state];
        /* Finding a set again costs as much as some words of it. */
        size_t work = (words + 8) * automaton->n_classes;
        if (work > builder->work)
            return false;
        builder->work -= work;
        for (uint32_t class = 0; class < automaton->n_classes; class ++) {
            step(builder, state, class);
            uint32_t to = intern(builder);
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
        uint16_t *row = dfa->next + (size_t)row_of[state] * stride;
        const uint32_t *edges = builder->edges + (size_t)state * automaton->n_classes;
        for (uint32_t class = 0; class < n_classes; class ++)
            row[class] = (uint16_t)(row_of[edges[first[class]]] * stride);
        row[n_classes] = (uint16_t)row_of[state];
        dfa->answers[row_of[state]] = builder->answers[state];
    }
    for (unsigned c = 0; c < 256; c++)
        dfa->class_of[c] = merged[automaton->class_of[c]];
    dfa->n_states = builder->n_states;
    dfa->stride = stride;
    dfa->start = row_of[0] * stride;
    dfa->settled = n_settled * stride;
    dfa->bytes = entries * sizeof *dfa->next + builder->n_states * sizeof *dfa->answers;
    return BS_DFA_BUILT;
}

enum bs_dfa_result bs_dfa_build(struct bs_dfa *dfa, const struct bs_automaton *automaton,
                                struct bs_dfa_limits limits) {
    *dfa = (struct bs_dfa){0};
    struct builder builder = {.automaton = automaton, .n_slots = 1, .work = limits.work};
    /* Merging columns halves most tables. */
    size_t max_states = 2 * limits.entries / (automaton->n_classes + 1U);
    builder.max_states = (uint32_t)max_states;
    while (builder.n_slots <= 2 * builder.max_states)
        builder.n_slots *= 2;
    enum bs_dfa_result result = BS_DFA_NO_MEMORY;
    /* A step makes two words of one at most. */
    builder.set = malloc((2 * (size_t)automaton->words + 1) * sizeof *builder.set);
    builder.begins = calloc(max_states + 1, sizeof *builder.begins);
    builder.edges = malloc(max_states * automaton->n_classes * sizeof *builder.edges);
    builder.answers = malloc(max_states * sizeof *builder.answers);
    builder.slots = calloc(builder.n_slots, sizeof *builder.slots);
    if (builder.set == NULL || builder.begins == NULL || builder.edges == NULL ||
        builder.answers == NULL || builder.slots == NULL)
        goto finish;
    result = BS_DFA_TOO_LARGE;
    if (explore(&builder))
        result = write_table(dfa, &builder, builder.slots, limits.entries);
    if (builder.no_memory)
        result = BS_DFA_NO_MEMORY;
    if (result != BS_DFA_BUILT)
        bs_dfa_clear(dfa);
finish:
    free(builder.pool);
    free(builder.set);
    free(builder.begins);
    free(builder.edges);
    free(builder.answers);
    free(builder.slots);
    return result;
}

void bs_dfa_clear(struct bs_dfa *dfa) {
    free(dfa->next);
    free(dfa->answers);
    *dfa = (struct bs_dfa){0};
}
