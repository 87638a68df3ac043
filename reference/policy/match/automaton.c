#include "policy/match/automaton.h"

#include <stdlib.h>
#include <string.h>

#include "policy/match/tokens.h"

/* number of sets besides those of consume and loop: initial, gaps, accepting, last, forever, and
 * the states that every character leaves */
enum { OTHER_SETS = 6 };

size_t bs_automaton_states(const struct bs_pattern *pattern) {
    struct bs_tokens tokens;
    struct bs_state state;
    const char *first = NULL;
    bs_tokens_start(&tokens, pattern);
    size_t n = bs_tokens_plain(&tokens, &first);
    while (bs_tokens_next(&tokens, &state))
        n += 1 + bs_tokens_plain(&tokens, &first);
    return n;
}

static void put(uint64_t *set, uint32_t state) { set[state / 64] |= UINT64_C(1) << state % 64; }

static bool continues(unsigned c) { return (c & 0xC0) == 0x80; }

static inline void name_byte(struct bs_automaton *automaton, unsigned char c) {
    if (automaton->class_of[c] > 1)
        return;
    automaton->loop_of[automaton->n_classes] = c == '/'       ? BS_LOOP_SLASH
                                               : continues(c) ? BS_LOOP_INSIDE
                                                              : BS_LOOP_OTHER;
    automaton->class_of[c] = (uint8_t)automaton->n_classes++;
}

/* Divide the bytes into classes. The separator and each byte that a glob names have a class of
 * their own. All other bytes share two classes: continuation bytes of UTF-8, and the rest. */
static void classify(struct bs_automaton *automaton, const struct bs_pattern *patterns, size_t n) {
    memset(automaton->class_of, 0, sizeof automaton->class_of);
    memset(automaton->class_of + 0x80, 1, 0x40);
    automaton->loop_of[0] = BS_LOOP_OTHER;
    automaton->loop_of[1] = BS_LOOP_INSIDE;
    automaton->n_classes = 2;
    name_byte(automaton, '/');
    for (size_t i = 0; i < n; i++) {
        for (size_t at = 0; at < patterns[i].len; at++)
            name_byte(automaton, (unsigned char)patterns[i].text[at]);
    }
}

static void add_loops(struct bs_automaton *automaton, uint32_t at, uint8_t stay) {
    put(automaton->loop[BS_LOOP_INSIDE], at);
    if ((stay & (BS_STAY_ALWAYS | BS_STAY_SEGMENT)) != 0)
        put(automaton->loop[BS_LOOP_OTHER], at);
    if ((stay & BS_STAY_ALWAYS) != 0)
        put(automaton->loop[BS_LOOP_SLASH], at);
}

/* Add a state that is not a plain byte. Returns true if the state can still read a slash. */
static bool add_state(struct bs_automaton *automaton, uint64_t *by_any, uint32_t at,
                      const struct bs_state *state) {
    uint32_t words = automaton->words;
    unsigned by = state->by == BS_BY_GAP ? '/' : state->by;
    if (by < BS_BY_CHARACTER)
        put(automaton->consume + (size_t)automaton->class_of[by] * words, at);
    else if (by == BS_BY_CHARACTER)
        put(by_any, at);
    if (state->by == BS_BY_GAP)
        put(automaton->gaps, at);
    if (state->stay != 0)
        add_loops(automaton, at, state->stay);
    bool always = (state->stay & BS_STAY_ALWAYS) != 0;
    if (state->accepts) {
        put(automaton->accepting, at);
        if (always)
            put(automaton->forever, at);
    }
    return always || by == '/';
}

/* A `?` accepts the first byte of any character. So add its states to the set of each class that
 * has such bytes. */
static void consume_any(struct bs_automaton *automaton, const uint64_t *by_any) {
    for (uint32_t class = 0; class < automaton->n_classes; class ++) {
        uint64_t *set = automaton->consume + (size_t) class * automaton->words;
        if (automaton->loop_of[class] != BS_LOOP_OTHER)
            continue;
        for (uint32_t i = 0; i < automaton->words; i++)
            set[i] |= by_any[i];
    }
}

/* A pattern that is being added. States before `at` are complete. */
struct entering {
    struct bs_tokens tokens;
    uint32_t rule;
    uint32_t at;
    uint32_t last; /* the first state of the current segment */
};

/* Add states for the plain bytes that come next. Returns false if the next byte is not plain. */
static bool enter_plain(struct bs_automaton *automaton, struct entering *e) {
    const char *text = NULL;
    size_t n = bs_tokens_plain(&e->tokens, &text);
    for (size_t i = 0; i < n; i++, e->at++) {
        unsigned char c = (unsigned char)text[i];
        put(automaton->consume + (size_t)automaton->class_of[c] * automaton->words, e->at);
        automaton->rule_of[e->at] = e->rule;
        if (c == '/')
            e->last = e->at + 1;
    }
    return n > 0;
}

/* Add the states of one pattern, from number `at` on. Returns the number after its last state. */
static uint32_t enter(struct bs_automaton *automaton, uint64_t *by_any,
                      const struct bs_pattern *pattern, uint32_t rule, uint32_t at) {
    struct entering e = {.rule = rule, .at = at, .last = at};
    struct bs_state state;
    bool initial = true; /* the next state is an initial state of the automaton */
    bs_tokens_start(&e.tokens, pattern);
    for (;;) {
        if (initial)
            put(automaton->initial, e.at);
        initial = !enter_plain(automaton, &e) && initial;
        if (!bs_tokens_next(&e.tokens, &state))
            break;
        if (add_state(automaton, by_any, e.at, &state))
            e.last = e.at + 1;
        automaton->rule_of[e.at++] = rule;
        initial = initial && state.by == BS_BY_GAP;
    }
    for (uint32_t i = e.last; i < e.at; i++)
        put(automaton->last, i);
    return e.at;
}

/* Return a bound for the number of states. A pattern has at most one state for each byte and one
 * for its end. If this sum fits into one word, it is used as the bound, because an exact count
 * takes as long as adding the states. */
static size_t room_for_states(const struct bs_pattern *patterns, size_t n) {
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += patterns[i].len + 1;
    if (most <= 64)
        return most;
    size_t n_states = 0;
    for (size_t i = 0; i < n; i++)
        n_states += bs_automaton_states(&patterns[i]);
    return n_states;
}

/* Return zeroed words, from the caller's memory if they fit, otherwise from the heap. */
static uint64_t *room_for_sets(struct bs_automaton *automaton, size_t words,
                               const struct bs_room *room) {
    if (room != NULL && words <= room->words) {
        memset(room->at, 0, words * sizeof *room->at);
        return room->at;
    }
    automaton->block = calloc(words, sizeof *automaton->block);
    return automaton->block;
}

bool bs_automaton_build(struct bs_automaton *automaton, const struct bs_pattern *patterns,
                        const uint32_t *rules, size_t n, const struct bs_room *room) {
    automaton->n_states = automaton->words = 0;
    automaton->block = NULL;
    size_t n_states = room_for_states(patterns, n);
    if (n_states > BS_AUTOMATON_MOST_STATES)
        return false;
    classify(automaton, patterns, n);
    size_t words = (n_states + 63) / 64;
    size_t rules_at = (automaton->n_classes + OTHER_SETS + BS_LOOPS) * words;
    uint64_t *set = room_for_sets(automaton, rules_at + n_states / 2 + 1, room);
    if (set == NULL)
        return false;
    automaton->words = (uint32_t)words;
    automaton->rule_of = (uint32_t *)(set + rules_at);
    automaton->consume = set;
    set += automaton->n_classes * words;
    uint64_t *by_any = set;
    automaton->initial = set += words;
    for (size_t i = 0; i < BS_LOOPS; i++)
        automaton->loop[i] = set += words;
    automaton->gaps = set += words;
    automaton->accepting = set += words;
    automaton->last = set += words;
    automaton->forever = set + words;
    uint32_t at = 0;
    for (size_t i = 0; i < n; i++)
        at = enter(automaton, by_any, &patterns[i], rules != NULL ? rules[i] : (uint32_t)i, at);
    consume_any(automaton, by_any);
    automaton->n_states = at;
    return true;
}

void bs_automaton_clear(struct bs_automaton *automaton) {
    free(automaton->block);
    automaton->block = NULL;
    automaton->n_states = automaton->words = 0;
}

size_t bs_automaton_bytes(const struct bs_automaton *automaton) {
    return ((size_t)automaton->n_classes + OTHER_SETS + BS_LOOPS) * automaton->words *
               sizeof(uint64_t) +
           automaton->n_states * sizeof(uint32_t);
}

/* Advance the set of states by one byte. `to` may be `from`. If `words` is a constant, the compiler
 * can keep all words in registers. */
__attribute__((always_inline)) static inline bool step(const struct bs_automaton *automaton,
                                                       uint8_t class, const uint64_t *from,
                                                       uint64_t *to, uint32_t words) {
    const uint64_t *consume = automaton->consume + (size_t) class * words;
    const uint64_t *loop = automaton->loop[automaton->loop_of[class]];
    const uint64_t *gaps = automaton->gaps;
    uint64_t carry = 0; /* bits for the next word, of states that were entered */
    /* bits for the next word, of states that become active because a gap is skipped */
    uint64_t skip_carry = 0;
    uint64_t any = 0;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < words; i++) {
        uint64_t gone = from[i] & consume[i];
        uint64_t entered = gone << 1 | carry;
        uint64_t skipped = entered & gaps[i];
        to[i] = entered | (from[i] & loop[i]) | skipped << 1 | skip_carry;
        any |= to[i];
        carry = gone >> 63;
        skip_carry = skipped >> 63;
    }
    return any != 0;
}

/* Return the highest rule that accepts in this set of states, or BS_NO_RULE. */
static ptrdiff_t accepts(const struct bs_automaton *automaton, const uint64_t *set) {
    for (uint32_t i = automaton->words; i-- > 0;) {
        uint64_t accepting = set[i] & automaton->accepting[i];
        if (accepting != 0) {
            uint32_t bit = 63U - (uint32_t)__builtin_clzll(accepting);
            return (ptrdiff_t)automaton->rule_of[i * 64 + bit];
        }
    }
    return BS_NO_RULE;
}

/* For automata of one or two words, which suffice for most globs that are matched one at a time. */
static inline ptrdiff_t highest_of_few(const struct bs_automaton *automaton, const char *path,
                                       size_t len, uint32_t words) {
    uint64_t set[2] = {0};
    for (uint32_t i = 0; i < words; i++)
        set[i] = automaton->initial[i];
    for (size_t i = 0; i < len; i++) {
        if (!step(automaton, automaton->class_of[(unsigned char)path[i]], set, set, words))
            return BS_NO_RULE;
    }
    return accepts(automaton, set);
}

/* Not inlined, because the set needs 16 KiB of stack, which a match with a small automaton should
 * not use. */
__attribute__((noinline)) static ptrdiff_t highest_of_many(const struct bs_automaton *automaton,
                                                           const char *path, size_t len) {
    uint64_t set[BS_AUTOMATON_MOST_STATES / 64];
    memcpy(set, automaton->initial, automaton->words * sizeof *set);
    for (size_t i = 0; i < len; i++) {
        uint8_t class = automaton->class_of[(unsigned char)path[i]];
        if (!step(automaton, class, set, set, automaton->words))
            return BS_NO_RULE;
    }
    return accepts(automaton, set);
}

ptrdiff_t bs_automaton_highest(const struct bs_automaton *automaton, const char *path, size_t len) {
    if (automaton->words == 0)
        return BS_NO_RULE;
    switch (automaton->words) {
    case 1:
        return highest_of_few(automaton, path, len, 1);
    case 2:
        return highest_of_few(automaton, path, len, 2);
    default:
        return highest_of_many(automaton, path, len);
    }
}
