#include "policy/match/tokens.h"

static inline size_t stars(const struct bs_tokens *tokens) {
    const char *at = tokens->at;
    while (at < tokens->end && *at == '*')
        at++;
    return (size_t)(at - tokens->at);
}

static bool segment_ends(const char *at, const char *end) { return at == end || *at == '/'; }

/* Skip all but one of several `**` segments in a row, because they match the same paths as one.
 * With a single one, there is at most one gap between a state and the next. */
static inline const char *past_repeated_gaps(const char *at, const char *end) {
    while (end - at >= 5 && at[0] == '*' && at[1] == '*' && at[2] == '/' && at[3] == '*' &&
           at[4] == '*' && segment_ends(at + 5, end))
        at += 3;
    return at;
}

void bs_tokens_start(struct bs_tokens *tokens, const struct bs_pattern *pattern) {
    *tokens = (struct bs_tokens){.at = pattern->text, .starts = true};
    tokens->end = pattern->text + pattern->len;
    if (pattern->len == 1 && pattern->text[0] == '.')
        tokens->end = tokens->at;
}

static bool is_tail(struct bs_tokens *tokens) {
    const char *ahead = past_repeated_gaps(tokens->at + 1, tokens->end);
    if (tokens->end - ahead != 2 || ahead[0] != '*' || ahead[1] != '*')
        return false;
    tokens->at = ahead;
    return true;
}

/* True if the meaning of a byte does not depend on its neighbours, which holds for most bytes. */
static inline bool stands_for_itself(const char *at, const char *end) {
    static const bool special[256] = {['*'] = true, ['?'] = true, ['/'] = true};
    return !special[(unsigned char)*at] || (*at == '/' && (at + 1 == end || at[1] != '*'));
}

size_t bs_tokens_plain(struct bs_tokens *tokens, const char **first) {
    const char *at = tokens->at;
    *first = at;
    if (tokens->stay != 0)
        return 0;
    while (at < tokens->end && stands_for_itself(at, tokens->end))
        at++;
    if (at == *first)
        return 0;
    tokens->starts = at[-1] == '/';
    tokens->at = at;
    return (size_t)(at - *first);
}

bool bs_tokens_next(struct bs_tokens *tokens, struct bs_state *state) {
    if (tokens->done)
        return false;
    *state = (struct bs_state){.stay = tokens->stay};
    tokens->stay = 0;
    if (tokens->at < tokens->end && stands_for_itself(tokens->at, tokens->end)) {
        state->by = (unsigned char)*tokens->at++;
        tokens->starts = state->by == '/';
        return true;
    }
    if (tokens->starts) {
        tokens->at = past_repeated_gaps(tokens->at, tokens->end);
        size_t run = stars(tokens);
        if (run == 1 && segment_ends(tokens->at + 1, tokens->end)) {
            tokens->at++;
            tokens->starts = false;
            tokens->stay = BS_STAY_INSIDE | BS_STAY_SEGMENT;
            state->by = BS_BY_CHARACTER;
            return true;
        }
        if (run == 2 && tokens->end - tokens->at > 2 && tokens->at[2] == '/') {
            tokens->at += 3;
            state->by = BS_BY_GAP;
            state->stay |= BS_STAY_ALWAYS;
            return true;
        }
    }
    tokens->starts = false;
    for (size_t run = stars(tokens); run > 0; run = stars(tokens)) {
        state->stay |= run > 1 ? BS_STAY_ALWAYS : BS_STAY_SEGMENT;
        tokens->at += run;
    }
    if (tokens->at == tokens->end) {
        state->by = BS_BY_NOTHING;
        state->accepts = true;
        tokens->done = true;
        return true;
    }
    unsigned char c = (unsigned char)*tokens->at;
    if (c == '/' && is_tail(tokens)) {
        state->by = '/';
        state->accepts = true;
        return true;
    }
    tokens->at++;
    tokens->starts = c == '/';
    state->by = c == '?' ? BS_BY_CHARACTER : c;
    tokens->stay = c == '?' ? BS_STAY_INSIDE : 0;
    return true;
}
