#include "policy/automaton.h"

#include <stdlib.h>
#include <string.h>

#include "policy/tokens.h"

/* initial, gaps, accepting, last, forever */
enum { OTHER_SETS = 5 };

size_t bs_automaton_states(const struct bs_pattern *pattern) {
    struct bs_tokens tokens;
    struct bs_state state;
    size_t n = 0;
    for (bs_tokens_start(&tokens, pattern); bs_tokens_next(&tokens, &state);)
        n++;
    return n;
}

static void put(uint64_t *set, uint32_t state) { set[state / 64] |= UINT64_C(1) << state % 64; }

static bool continues(unsigned c) { return (c & 0xC0) == 0x80; }

static void name_byte(struct bs_automaton *automaton, unsigned char c) {
    if (automaton->class_of[c] > 1)
        return;
    automaton->loop_of[automaton->n_classes] = c == '/'       ? BS_LOOP_SLASH
                                               : continues(c) ? BS_LOOP_INSIDE
                                                              : BS_LOOP_OTHER;
    automaton->class_of[c] = (uint8_t)automaton->n_classes++;
}

/* A class of its own for the separator and for each byte that a glob names, two for the rest. */
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

static void add_state(struct bs_automaton *automaton, uint32_t at, const struct bs_state *state) {
    uint32_t words = automaton->words;
    if (state->by < BS_BY_CHARACTER) {
        put(automaton->consume + (size_t)automaton->class_of[state->by] * words, at);
    } else if (state->by == BS_BY_CHARACTER) {
        for (uint32_t class = 0; class < automaton->n_classes; class ++) {
            if (automaton->loop_of[class] == BS_LOOP_OTHER)
                put(automaton->consume + (size_t) class * words, at);
        }
    } else if (state->by == BS_BY_GAP) {
        put(automaton->consume + (size_t)automaton->class_of['/'] * words, at);
        put(automaton->gaps, at);
    }
    if (state->stay != 0)
        add_loops(automaton, at, state->stay);
    if (!state->accepts)
        return;
    put(automaton->accepting, at);
    if ((state->stay & BS_STAY_ALWAYS) != 0)
        put(automaton->forever, at);
}

/* From the last state of a rule back to where a slash can still be read. */
static void mark_last_segment(struct bs_automaton *automaton, uint32_t first, uint32_t end) {
    size_t slash = (size_t)automaton->class_of['/'] * automaton->words;
    const uint64_t *by_slash = automaton->consume + slash;
    const uint64_t *stays = automaton->loop[BS_LOOP_SLASH];
    for (uint32_t at = end; at-- > first;) {
        if (((by_slash[at / 64] | stays[at / 64]) >> at % 64 & 1) != 0)
            return;
        put(automaton->last, at);
    }
}

/* A state is at least a byte of its pattern, or its end. Where that alone says that they fit into a
 * word, they are not counted: it would take as long as entering them. */
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

bool bs_automaton_build(struct bs_automaton *automaton, const struct bs_pattern *patterns,
                        const uint32_t *rules, size_t n) {
    *automaton = (struct bs_automaton){0};
    size_t room = room_for_states(patterns, n);
    if (room > BS_AUTOMATON_MOST_STATES)
        return false;
    classify(automaton, patterns, n);
    automaton->words = (uint32_t)((room + 63) / 64);
    size_t sets = automaton->n_classes + OTHER_SETS + BS_LOOPS;
    size_t rules_at = sets * automaton->words;
    uint64_t *words = calloc(rules_at + room / 2 + 1, sizeof *words);
    if (words == NULL)
        return false;
    automaton->rule_of = (uint32_t *)(words + rules_at);
    automaton->consume = words;
    words += (size_t)automaton->n_classes * automaton->words;
    uint64_t **const members[] = {&automaton->initial,
                                  &automaton->loop[BS_LOOP_OTHER],
                                  &automaton->loop[BS_LOOP_SLASH],
                                  &automaton->loop[BS_LOOP_INSIDE],
                                  &automaton->gaps,
                                  &automaton->accepting,
                                  &automaton->last,
                                  &automaton->forever};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++, words += automaton->words)
        *members[i] = words;
    uint32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        struct bs_tokens tokens;
        struct bs_state state;
        bool enter = true;
        uint32_t first = at;
        for (bs_tokens_start(&tokens, &patterns[i]); bs_tokens_next(&tokens, &state); at++) {
            add_state(automaton, at, &state);
            automaton->rule_of[at] = rules != NULL ? rules[i] : (uint32_t)i;
            if (enter)
                put(automaton->initial, at);
            enter = enter && state.by == BS_BY_GAP;
        }
        mark_last_segment(automaton, first, at);
    }
    automaton->n_states = at;
    return true;
}

void bs_automaton_clear(struct bs_automaton *automaton) {
    free(automaton->consume); /* the block that all sets and rules are in */
    *automaton = (struct bs_automaton){0};
}

size_t bs_automaton_bytes(const struct bs_automaton *automaton) {
    return ((size_t)automaton->n_classes + OTHER_SETS + BS_LOOPS) * automaton->words *
               sizeof(uint64_t) +
           automaton->n_states * sizeof(uint32_t);
}

/* `to` may be `from`. With a constant number of words all of them stay in registers. */
static inline bool step(const struct bs_automaton *automaton, uint8_t class, const uint64_t *from,
                        uint64_t *to, uint32_t words) {
    const uint64_t *consume = automaton->consume + (size_t) class * words;
    const uint64_t *loop = automaton->loop[automaton->loop_of[class]];
    const uint64_t *gaps = automaton->gaps;
    uint64_t carry = 0;      /* into the next word, from states that went on */
    uint64_t skip_carry = 0; /* ... from gaps that were entered */
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

bool bs_automaton_step(const struct bs_automaton *automaton, uint8_t class, const uint64_t *from,
                       uint64_t *to) {
    return step(automaton, class, from, to, automaton->words);
}

ptrdiff_t bs_automaton_accepts(const struct bs_automaton *automaton, const uint64_t *set) {
    for (uint32_t i = automaton->words; i-- > 0;) {
        uint64_t accepting = set[i] & automaton->accepting[i];
        if (accepting != 0) {
            uint32_t bit = 63U - (uint32_t)__builtin_clzll(accepting);
            return (ptrdiff_t)automaton->rule_of[i * 64 + bit];
        }
    }
    return BS_NO_RULE;
}

/* What most single globs are. */
static inline ptrdiff_t highest_of_few(const struct bs_automaton *automaton, const char *path,
                                       size_t len, uint32_t words) {
    uint64_t set[2] = {0};
    for (uint32_t i = 0; i < words; i++)
        set[i] = automaton->initial[i];
    for (size_t i = 0; i < len; i++) {
        if (!step(automaton, automaton->class_of[(unsigned char)path[i]], set, set, words))
            return BS_NO_RULE;
    }
    return bs_automaton_accepts(automaton, set);
}

/* Not inlined: only who needs the two large sets shall have them on the stack. */
__attribute__((noinline)) static ptrdiff_t highest_of_many(const struct bs_automaton *automaton,
                                                           const char *path, size_t len) {
    uint64_t sets[2][BS_AUTOMATON_MOST_STATES / 64];
    memcpy(sets[0], automaton->initial, automaton->words * sizeof **sets);
    for (size_t i = 0; i < len; i++) {
        uint8_t class = automaton->class_of[(unsigned char)path[i]];
        if (!bs_automaton_step(automaton, class, sets[i % 2], sets[(i + 1) % 2]))
            return BS_NO_RULE;
    }
    return bs_automaton_accepts(automaton, sets[len % 2]);
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
