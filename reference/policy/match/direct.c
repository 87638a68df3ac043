#include "policy/match/direct.h"

#include <stdbool.h>
#include <stdint.h>

#include "policy/match/tokens.h"

enum { MOST_STATES = 64 };

struct run {
    struct bs_tokens tokens;
    struct bs_state states[MOST_STATES];
    unsigned n; /* states that were made */
    bool too_long;
};

/* The set of a state and of what can be skipped to from it. */
static uint64_t enter(struct run *run, unsigned at) {
    uint64_t set = 0;
    for (; at < MOST_STATES; at++) {
        while (run->n <= at)
            (void)bs_tokens_next(&run->tokens, &run->states[run->n++]);
        set |= UINT64_C(1) << at;
        if (run->states[at].by != BS_BY_GAP)
            return set;
    }
    run->too_long = true;
    return set;
}

static bool continues(unsigned char c) { return (c & 0xC0) == 0x80; }

static bool goes_on(const struct bs_state *state, unsigned char c) {
    if (state->by == BS_BY_CHARACTER)
        return c != '/' && !continues(c);
    return state->by == c || (c == '/' && state->by == BS_BY_GAP);
}

static bool stays(const struct bs_state *state, unsigned char c) {
    unsigned by = c == '/'       ? BS_STAY_ALWAYS
                  : continues(c) ? BS_STAY_ALWAYS | BS_STAY_SEGMENT | BS_STAY_INSIDE
                                 : BS_STAY_ALWAYS | BS_STAY_SEGMENT;
    return (state->stay & by) != 0;
}

static uint64_t step(struct run *run, uint64_t set, unsigned char c, size_t *steps) {
    uint64_t next = 0;
    for (; set != 0; set &= set - 1, ++*steps) {
        unsigned at = (unsigned)__builtin_ctzll(set);
        if (stays(&run->states[at], c))
            next |= UINT64_C(1) << at;
        if (goes_on(&run->states[at], c))
            next |= enter(run, at + 1);
    }
    return next;
}

enum bs_direct bs_direct_matches(const struct bs_pattern *pattern, const char *path, size_t len,
                                 size_t *steps) {
    struct run run;
    run.n = 0;
    run.too_long = false;
    bs_tokens_start(&run.tokens, pattern);
    uint64_t set = enter(&run, 0);
    if (len == 1 && path[0] == '.')
        len = 0;
    ++*steps;
    for (size_t i = 0; i < len && set != 0 && !run.too_long; i++)
        set = step(&run, set, (unsigned char)path[i], steps);
    if (run.too_long)
        return BS_DIRECT_TOO_LONG;
    for (; set != 0; set &= set - 1) {
        if (run.states[__builtin_ctzll(set)].accepts)
            return BS_DIRECT_YES;
    }
    return BS_DIRECT_NO;
}
