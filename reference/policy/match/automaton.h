/* Globs as one bit-parallel automaton (NFA): a bit for each state of all rules, and one step of
 * shifts and masks for each byte of the path. A run takes path x states / 64 steps for every glob.
 *
 * A state stands for a byte of a glob, not for a code point. The path is valid UTF-8, so a `?`
 * takes one byte that is no continuation byte, and the state after it stays for the continuation
 * bytes.
 *
 * The root is the path without bytes. */
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
    uint8_t class_of[256]; /* bytes that every state treats alike share a class */
    uint8_t loop_of[256];  /* by class: the index of its set in `loop` */
    uint64_t *initial;
    uint64_t *consume;        /* n_classes sets: states that a byte of the class leads on from */
    uint64_t *loop[BS_LOOPS]; /* states that stay */
    uint64_t *gaps;           /* `**` before a slash: entering one enters the next state too */
    uint64_t *accepting;
    uint64_t *last;    /* states in the last segment of their rule */
    uint64_t *forever; /* accepting for every continuation */
    uint32_t *rule_of; /* by state */
    uint64_t *block;   /* the memory of all of these; NULL: it is the caller's */
};

/* Memory of the caller that lives as long as the automaton. It need not be initialised. */
struct bs_room {
    uint64_t *at;
    size_t words;
};

/* Returns the number of states of the pattern, or 0 if it is more than SIZE_MAX / 2. */
size_t bs_automaton_states(const struct bs_pattern *pattern);

/* A run answers rules[i] for patterns[i]; `rules` rises, and NULL stands for 0 to n - 1. The
 * patterns have at most BS_AUTOMATON_MOST_STATES states. An automaton that fits into `room`, which
 * may be NULL, allocates nothing. False if memory ran out. */
bool bs_automaton_build(struct bs_automaton *automaton, const struct bs_pattern *patterns,
                        const uint32_t *rules, size_t n, const struct bs_room *room);
void bs_automaton_clear(struct bs_automaton *automaton);
size_t bs_automaton_bytes(const struct bs_automaton *automaton);

/* Returns the highest rule that matches the path, or BS_NO_RULE; the root has no bytes. */
ptrdiff_t bs_automaton_highest(const struct bs_automaton *automaton, const char *path, size_t len);

#endif
