/* A glob in its normal form as the states of an automaton. */
#ifndef BS_POLICY_MATCH_TOKENS_H
#define BS_POLICY_MATCH_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/match/matcher.h"

/* The condition that leads from a state to the next one: a byte (0 to 255), or one of these. */
enum {
    BS_BY_CHARACTER = 256, /* a byte but `/` that does not continue a character */
    BS_BY_GAP,             /* `/`, and the state stays for anything until then; may be skipped */
    BS_BY_NOTHING          /* the end of the glob */
};

/* Which bytes a state stays for: within a character, within a segment, any. */
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
    bool starts; /* at the start of a segment */
    bool done;
};

/* Hands out one state after the other; false after the last. */
void bs_tokens_start(struct bs_tokens *tokens, const struct bs_pattern *pattern);
bool bs_tokens_next(struct bs_tokens *tokens, struct bs_state *state);

/* Hands out a run of plain states at once: each is left by a byte of the pattern and has no other
 * role. Returns how many there are, and their first byte in *first. */
size_t bs_tokens_plain(struct bs_tokens *tokens, const char **first);

#endif
