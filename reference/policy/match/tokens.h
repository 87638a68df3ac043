/* Splits a glob in normal form into the states of an automaton. */
#ifndef BS_POLICY_MATCH_TOKENS_H
#define BS_POLICY_MATCH_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/matcher.h"

/* The condition for going from a state to the next one: a byte (0 to 255), or one of these
 * values. */
enum {
    BS_BY_CHARACTER = 256, /* the first byte of any character except `/` */
    BS_BY_GAP,    /* `/`; before it the state accepts any text. The state may also be skipped. */
    BS_BY_NOTHING /* there is no next state, because the glob ends */
};

/* For which bytes a state stays active: continuation bytes of a character, all bytes except `/`, or
 * all bytes. */
enum { BS_STAY_INSIDE = 1, BS_STAY_SEGMENT = 2, BS_STAY_ALWAYS = 4 };

struct bs_state {
    uint16_t by;
    uint8_t stay;
    bool accepts;
};

struct bs_tokens {
    const char *at;
    const char *end;
    uint8_t stay;
    bool starts; /* the next byte is at the start of a segment */
    bool done;
};

/* Start with bs_tokens_start. Each bs_tokens_next then returns the next state, and false after the
 * last one. */
void bs_tokens_start(struct bs_tokens *tokens, const struct bs_pattern *pattern);
bool bs_tokens_next(struct bs_tokens *tokens, struct bs_state *state);

/* Return how many plain states come next; *first becomes the byte of the first one. A plain state
 * only has the condition that the next byte equals a byte of the pattern. */
size_t bs_tokens_plain(struct bs_tokens *tokens, const char **first);

#endif
