/* Globs as one bit-parallel automaton: a bit for each state, all rules side by side, one step of
 * shifts and masks for each byte of the path. Time is linear in path x states / 64 whatever the
 * globs are, so this is what everything else is built from and falls back to.
 *
 * States are bytes, not code points. In valid UTF-8 a `?` is one byte that continues no character,
 * and then any number that do: the state behind it stays for those. Every other token begins with a
 * byte that continues nothing or does not care, so nothing can begin inside a character.
 *
 * The root is the path of no bytes.
 */
#ifndef BS_POLICY_MATCH_AUTOMATON_H
#define BS_POLICY_MATCH_AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/matcher.h"

/* Bounds the set of states on the stack of a run: 16 KiB. */
#define BS_AUTOMATON_MOST_STATES (UINT32_C(1) << 17)

enum { BS_LOOP_OTHER, BS_LOOP_SLASH, BS_LOOP_INSIDE, BS_LOOPS };

/* A set is `words` words; state s is bit s % 64 of word s / 64. Later rules have higher states, so
 * the highest bit is the highest rule. */
struct bs_automaton {
    uint32_t n_states;
    uint32_t words;
    uint32_t n_classes;
    uint8_t class_of[256]; /* bytes that no state tells apart share a class */
    uint8_t loop_of[256];  /* which of the loop sets a class asks */
    uint64_t *initial;
    uint64_t *consume;        /* n_classes sets: states that go on to the next one by it */
    uint64_t *loop[BS_LOOPS]; /* states that stay */
    uint64_t *gaps;           /* `**` before a slash: entering one enters the next state too */
    uint64_t *accepting;
    uint64_t *last;    /* in the last segment of their rule: nothing but this segment can be left */
    uint64_t *forever; /* accepting, whatever follows */
    uint32_t *rule_of; /* by state */
    uint64_t *block;   /* what all of these are in; NULL: in memory of the caller */
};

/* Memory of the caller: uninitialised words, there as long as the automaton is. */
struct bs_room {
    uint64_t *at;
    size_t words;
};

/* How many states the pattern takes; 0 when it is more than SIZE_MAX / 2. */
size_t bs_automaton_states(const struct bs_pattern *pattern);

/* `rules` names the patterns in what a run answers, in rising order; NULL: 0 to n - 1. There must
 * be at most BS_AUTOMATON_MOST_STATES. What fits into `room` takes nothing from the heap; NULL:
 * there is none. False when memory ran out. */
bool bs_automaton_build(struct bs_automaton *automaton, const struct bs_pattern *patterns,
                        const uint32_t *rules, size_t n, const struct bs_room *room);
void bs_automaton_clear(struct bs_automaton *automaton);
size_t bs_automaton_bytes(const struct bs_automaton *automaton);

/* The highest rule that matches the path, or BS_NO_RULE; the root has no bytes. */
ptrdiff_t bs_automaton_highest(const struct bs_automaton *automaton, const char *path, size_t len);

#endif
