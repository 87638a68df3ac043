/* Matches globs by a bit-parallel automaton (NFA). It has one bit for each state of all rules, and
 * takes one step of shifts and masks for each byte of the path. So a match takes path x states / 64
 * operations, whatever the globs look like.
 *
 * A state stands for a byte of a glob, not for a character. A `?` accepts the one byte that begins
 * a character, and the state after the `?` also accepts the continuation bytes of that character.
 * This is correct because paths are valid UTF-8.
 *
 * The root is given as a path without bytes. */
#ifndef BS_POLICY_MATCH_AUTOMATON_H
#define BS_POLICY_MATCH_AUTOMATON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/matcher.h"

/* With this limit, the set of states that a match has on the stack takes at most 16 KiB. */
#define BS_AUTOMATON_MOST_STATES (UINT32_C(1) << 17)

enum { BS_LOOP_OTHER, BS_LOOP_SLASH, BS_LOOP_INSIDE, BS_LOOPS };

/* The automaton. A set has `words` words; state s is bit s % 64 of word s / 64. States of later
 * rules have higher numbers, so the highest bit belongs to the highest rule. */
struct bs_automaton {
    uint32_t n_states;
    uint32_t words;
    uint32_t n_classes;
    uint8_t class_of[256]; /* bytes that every state treats in the same way are in one class */
    uint8_t loop_of[256];  /* for each class, the index of its set in `loop` */
    uint64_t *initial;
    /* one set for each class: the states that a byte of the class leaves for the next state */
    uint64_t *consume;
    uint64_t *loop[BS_LOOPS]; /* the states that stay active after a byte */
    /* states of `**` before a slash. They can be skipped, so the state after them becomes active
     * together with them. */
    uint64_t *gaps;
    uint64_t *accepting;
    uint64_t *last;    /* the states in the last segment of their rule */
    uint64_t *forever; /* accepting states that stay active for every continuation of the path */
    uint32_t *rule_of; /* the rule of each state */
    uint64_t *block;   /* the memory of these arrays; NULL if it belongs to the caller */
};

/* Memory that the caller provides for an automaton. It must live as long as the automaton and need
 * not be initialised. */
struct bs_room {
    uint64_t *at;
    size_t words;
};

/* Returns the number of states of the pattern, or 0 if it is more than SIZE_MAX / 2. */
size_t bs_automaton_states(const struct bs_pattern *pattern);

/* Build the automaton of `patterns`. A match of patterns[i] is reported as rules[i]. `rules` must
 * be in rising order; NULL means the numbers from 0 on. The patterns must have at most
 * BS_AUTOMATON_MOST_STATES states. If the automaton fits into `room`, which may be NULL, nothing is
 * allocated. Returns false if memory ran out. */
bool bs_automaton_build(struct bs_automaton *automaton, const struct bs_pattern *patterns,
                        const uint32_t *rules, size_t n, const struct bs_room *room);
void bs_automaton_clear(struct bs_automaton *automaton);
size_t bs_automaton_bytes(const struct bs_automaton *automaton);

/* Return the highest rule that matches the path, or BS_NO_RULE. The root is a path without
 * bytes. */
ptrdiff_t bs_automaton_highest(const struct bs_automaton *automaton, const char *path, size_t len);

#endif
