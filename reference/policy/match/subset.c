#include "policy/match/subset.h"

#include <stdlib.h>
#include <string.h>

static void append(struct bs_subsets *subsets, uint32_t at, uint64_t bits) {
    if (bits != 0)
        subsets->set[subsets->set_len++] = (struct bs_subset_word){bits, at};
}

/* Bits that a step carries into the next word of the set. The first is for a state that was
 * entered, the second for a state that becomes active because a gap is skipped. */
enum { CARRY_ENTERED = 1, CARRY_SKIPPED = 2 };

/* Return one word of the set after a step. It has the states that were entered, those that stay
 * active, and those that become active because a gap is skipped. */
static uint64_t grown(const struct bs_automaton *automaton, uint32_t at, uint64_t entered,
                      uint64_t stay, unsigned carry, unsigned *carry_out) {
    entered |= carry & CARRY_ENTERED;
    uint64_t skipped = entered & automaton->gaps[at];
    *carry_out |= skipped >> 63 != 0 ? CARRY_SKIPPED : 0;
    return entered | stay | skipped << 1 | (carry / CARRY_SKIPPED);
}

/* If a rule accepts every continuation of the path, remove the states of lower rules, because these
 * rules cannot decide any more. */
static void drop_superseded_forever(struct bs_subsets *subsets) {
    for (size_t i = subsets->set_len; i-- > 0;) {
        struct bs_subset_word *word = &subsets->set[i];
        uint64_t forever =
            word->bits & subsets->automaton->forever[word->at]; /* NOLINT: every word is set */
        if (forever == 0)
            continue;
        word->bits &= UINT64_MAX << (63 - __builtin_clzll(forever));
        subsets->set_len -= i;
        memmove(subsets->set, word, subsets->set_len * sizeof *word);
        return;
    }
}

/* Find the highest rule that accepts the rest of the current segment. Lower rules that are in their
 * own last segment can no longer decide, so remove their states. Otherwise each rule such as `*x*`
 * would double the number of sets. */
static void drop_superseded_in_segment(struct bs_subsets *subsets) {
    const struct bs_automaton *automaton = subsets->automaton;
    size_t kept = 0;
    size_t i = subsets->set_len;
    uint64_t beats = 0;
    while (i > 0 && beats == 0) {
        const struct bs_subset_word *word = &subsets->set[--i];
        beats = word->bits & automaton->accepting[word->at] & automaton->last[word->at] &
                automaton->loop[BS_LOOP_OTHER][word->at];
    }
    if (beats == 0)
        return;
    uint64_t below = (UINT64_C(1) << (63 - __builtin_clzll(beats))) - 1;
    subsets->set[i].bits &= ~(below & automaton->last[subsets->set[i].at]);
    for (size_t k = 0; k < subsets->set_len; k++) {
        struct bs_subset_word word = subsets->set[k];
        if (k < i)
            word.bits &= ~automaton->last[word.at];
        if (word.bits != 0)
            subsets->set[kept++] = word;
    }
    subsets->set_len = kept;
}

static void drop_superseded(struct bs_subsets *subsets) {
    drop_superseded_forever(subsets);
    drop_superseded_in_segment(subsets);
}

/* Make the set of states that are active after the current set has read a byte of the class. */
static void step(struct bs_subsets *subsets, uint32_t state, uint32_t class) {
    const struct bs_automaton *automaton = subsets->automaton;
    const uint64_t *consume = automaton->consume + (size_t) class * automaton->words;
    const uint64_t *loop = automaton->loop[automaton->loop_of[class]];
    const struct bs_subset_word *word = subsets->pool + subsets->states[state].begin;
    const struct bs_subset_word *end = subsets->pool + subsets->states[state].end;
    unsigned carry = 0;
    uint32_t carry_at = 0;
    subsets->set_len = 0;
    for (; word < end; word++) {
        unsigned next = 0;
        if (carry != 0 && carry_at != word->at) {
            append(subsets, carry_at, grown(automaton, carry_at, 0, 0, carry, &next));
            carry = 0;
        }
        uint64_t gone = word->bits & consume[word->at];
        next = gone >> 63 != 0 ? CARRY_ENTERED : 0;
        append(subsets, word->at,
               grown(automaton, word->at, gone << 1, word->bits & loop[word->at], carry, &next));
        carry = next;
        carry_at = word->at + 1;
    }
    if (carry != 0)
        append(subsets, carry_at, grown(automaton, carry_at, 0, 0, carry, &carry));
    drop_superseded(subsets);
}

static uint32_t hash_of(const struct bs_subsets *subsets) {
    uint64_t hash = 0;
    for (size_t i = 0; i < subsets->set_len; i++) {
        hash = (hash ^ subsets->set[i].bits) * UINT64_C(0x9E3779B97F4A7C15);
        hash = (hash ^ hash >> 29 ^ subsets->set[i].at) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return (uint32_t)(hash >> 32);
}

static bool is_set_of(const struct bs_subsets *subsets, const struct bs_subset_state *state) {
    const struct bs_subset_word *word = subsets->pool + state->begin;
    if (state->end - state->begin != subsets->set_len)
        return false;
    for (size_t i = 0; i < subsets->set_len; i++) {
        if (word[i].at != subsets->set[i].at || word[i].bits != subsets->set[i].bits)
            return false;
    }
    return true;
}

static bool reserve(void **block, size_t *cap, size_t want, size_t size) {
    if (want <= *cap)
        return true;
    size_t room = 2 * want + 32;
    void *grown = realloc(*block, room * size);
    if (grown == NULL)
        return false;
    *block = grown;
    *cap = room;
    return true;
}

/* Return the slot of the current set, or the free slot for it if the set is not in the table. */
static uint32_t *slot_of(const struct bs_subsets *subsets, uint32_t hash) {
    uint32_t mask = subsets->n_slots - 1;
    uint32_t slot = hash & mask;
    for (; subsets->slots[slot] != 0; slot = (slot + 1) & mask) {
        const struct bs_subset_state *known = &subsets->states[subsets->slots[slot] - 1];
        if (known->hash == hash && is_set_of(subsets, known))
            break;
    }
    return &subsets->slots[slot];
}

/* Double the number of slots. The current set is not in the table yet. */
static bool spread(struct bs_subsets *subsets) {
    uint32_t *slots = calloc(2 * (size_t)subsets->n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    free(subsets->slots);
    subsets->slots = slots;
    subsets->n_slots *= 2;
    for (uint32_t state = 0; state < subsets->n_states; state++)
        *slot_of(subsets, subsets->states[state].hash) = state + 1;
    return true;
}

/* Reserve memory for one more state, which gets the current set. */
static bool make_room(struct bs_subsets *subsets) {
    size_t n = (size_t)subsets->n_states + 1;
    return reserve((void **)&subsets->pool, &subsets->pool_cap,
                   subsets->pool_len + subsets->set_len, sizeof *subsets->pool) &&
           reserve((void **)&subsets->states, &subsets->states_cap, n, sizeof *subsets->states) &&
           reserve((void **)&subsets->edges, &subsets->edges_cap, n * subsets->automaton->n_classes,
                   sizeof *subsets->edges) &&
           (2 * n < subsets->n_slots || spread(subsets));
}

static int32_t highest_of(const struct bs_subsets *subsets) {
    const struct bs_automaton *automaton = subsets->automaton;
    for (size_t i = subsets->set_len; i-- > 0;) {
        uint32_t at = subsets->set[i].at;
        uint64_t accepting = subsets->set[i].bits & automaton->accepting[at];
        if (accepting != 0)
            return (int32_t)
                automaton->rule_of[at * 64 + 63U - (uint32_t)__builtin_clzll(accepting)];
    }
    return BS_NO_RULE;
}

/* Return the number of the state that has the current set, and add this state if it is new. Returns
 * max_states if there is no room or no memory for it. */
static uint32_t intern(struct bs_subsets *subsets) {
    uint32_t hash = hash_of(subsets);
    uint32_t *slot = slot_of(subsets, hash);
    if (*slot != 0)
        return *slot - 1;
    if (subsets->n_states == subsets->max_states)
        return subsets->max_states;
    if (!make_room(subsets)) {
        subsets->no_memory = true;
        return subsets->max_states;
    }
    struct bs_subset_state *state = &subsets->states[subsets->n_states++];
    *state = (struct bs_subset_state){subsets->pool_len, subsets->pool_len + subsets->set_len, hash,
                                      highest_of(subsets)};
    if (subsets->set_len > 0)
        memcpy(subsets->pool + state->begin, subsets->set, subsets->set_len * sizeof *subsets->set);
    subsets->pool_len = state->end;
    *slot_of(subsets, hash) = subsets->n_states;
    return subsets->n_states - 1;
}

/* True if every automaton state in the set of `state` treats both classes in the same way, so that
 * both lead to the same set. Adds the words that were read to *words. */
static bool act_alike(const struct bs_subsets *subsets, const struct bs_subset_state *state,
                      uint32_t a, uint32_t b, size_t *words) {
    const struct bs_automaton *automaton = subsets->automaton;
    const uint64_t *by_a = automaton->consume + (size_t)a * automaton->words;
    const uint64_t *by_b = automaton->consume + (size_t)b * automaton->words;
    bool alike = automaton->loop_of[a] == automaton->loop_of[b];
    size_t i = state->begin;
    for (; i < state->end && alike; i++) {
        const struct bs_subset_word *word = &subsets->pool[i];
        alike = ((by_a[word->at] ^ by_b[word->at]) & word->bits) == 0;
    }
    *words += i - state->begin;
    return alike;
}

/* Make the edges of a state. Classes that act alike share an edge; few states have many different
 * edges. Returns false if there is no room for a set that an edge leads to, or if the comparisons
 * read more words than `work`, which is reduced by the words that were read. */
static bool follow(struct bs_subsets *subsets, uint32_t state, size_t *work) {
    uint32_t n_classes = subsets->automaton->n_classes;
    size_t words = 0;
    uint8_t different[256];
    uint32_t n = 0;
    for (uint32_t class = 0; class < n_classes; class ++) {
        uint32_t i = 0;
        while (i < n && !act_alike(subsets, &subsets->states[state], different[i], class, &words))
            i++;
        if (words > *work)
            return false;
        uint32_t to = 0;
        if (i < n) {
            to = subsets->edges[(size_t)state * n_classes + different[i]];
        } else {
            different[n++] = (uint8_t) class;
            step(subsets, state, class);
            to = intern(subsets);
        }
        if (to == subsets->max_states)
            return false;
        subsets->edges[(size_t)state * n_classes + class] = to;
    }
    *work -= words;
    return true;
}

/* Find all sets of automaton states that a path can lead to. Returns false if there are too many
 * sets, or if the search takes too much work. */
static bool explore(struct bs_subsets *subsets, size_t work) {
    const struct bs_automaton *automaton = subsets->automaton;
    for (uint32_t at = 0; at < automaton->words; at++)
        append(subsets, at, automaton->initial[at]);
    drop_superseded(subsets);
    if (intern(subsets) == subsets->max_states)
        return false;
    for (uint32_t state = 0; state < subsets->n_states; state++) {
        size_t words = subsets->states[state].end - subsets->states[state].begin;
        /* looking up a set costs about as much as reading eight words of it */
        size_t cost = (words + 8) * automaton->n_classes;
        if (cost > work)
            return false;
        work -= cost;
        if (!follow(subsets, state, &work))
            return false;
    }
    return true;
}

enum bs_dfa_result bs_subsets_build(struct bs_subsets *subsets,
                                    const struct bs_automaton *automaton, uint32_t max_states,
                                    size_t work) {
    *subsets = (struct bs_subsets){.automaton = automaton, .max_states = max_states, .n_slots = 64};
    /* a step turns each word of a set into at most two words */
    subsets->set = malloc((2 * (size_t)automaton->words + 1) * sizeof *subsets->set);
    subsets->slots = calloc(subsets->n_slots, sizeof *subsets->slots);
    subsets->no_memory = subsets->set == NULL || subsets->slots == NULL;
    if (!subsets->no_memory && explore(subsets, work))
        return BS_DFA_BUILT;
    return subsets->no_memory ? BS_DFA_NO_MEMORY : BS_DFA_TOO_LARGE;
}

void bs_subsets_clear(struct bs_subsets *subsets) {
    free(subsets->pool);
    free(subsets->set);
    free(subsets->states);
    free(subsets->edges);
    free(subsets->slots);
    *subsets = (struct bs_subsets){0};
}
