#include "policy/pieces.h"

#include <stdlib.h>
#include <string.h>

static bool is_wild(char c) { return c == '*' || c == '?'; }

enum bs_anchor bs_piece_of(const char *glob, size_t len, size_t *at, size_t *piece_len) {
    size_t start = 0;
    *at = 0;
    *piece_len = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && !is_wild(glob[i]))
            continue;
        bool decides = start == 0 || i == len;
        if (i > start && (decides || i - start > *piece_len)) {
            *at = start;
            *piece_len = i - start;
        }
        if (i > start && decides)
            return start == 0 ? BS_ANCHOR_START : BS_ANCHOR_END;
        start = i + 1;
    }
    return *piece_len > 0 ? BS_ANCHOR_ANYWHERE : BS_ANCHOR_NONE;
}

static bool grow(void **items, size_t *cap, size_t n, size_t size) {
    if (n < *cap)
        return true;
    size_t more = n == 0 ? 16 : n * 2;
    void *grown = realloc(*items, more * size);
    if (grown == NULL)
        return false;
    *items = grown;
    *cap = more;
    return true;
}

static bool add_state(struct bs_pieces *pieces, uint32_t parent, char c) {
    if (!grow((void **)&pieces->states, &pieces->cap_states, pieces->n_states,
              sizeof *pieces->states))
        return false;
    struct bs_piece_state state = {.parent = parent, .byte = (uint8_t)c};
    if (pieces->n_states > 0) {
        state.depth = pieces->states[parent].depth + 1;
        if (!bs_edges_add(&pieces->edges, parent, state.byte, (uint32_t)pieces->n_states))
            return false;
    }
    pieces->states[pieces->n_states++] = state;
    return true;
}

bool bs_pieces_start(struct bs_pieces *pieces) {
    return pieces->n_states > 0 || add_state(pieces, 0, 0);
}

uint32_t bs_pieces_state(struct bs_pieces *pieces, enum bs_anchor anchor, const char *piece,
                         size_t len) {
    uint32_t state = 0;
    for (size_t i = 0; i < len; i++) {
        char c = piece[anchor == BS_ANCHOR_END ? len - 1 - i : i];
        uint32_t child = bs_pieces_next(pieces, state, c);
        if (child == 0) {
            child = (uint32_t)pieces->n_states;
            if (!add_state(pieces, state, c))
                return 0;
        }
        state = child;
    }
    return state;
}

bool bs_pieces_add(struct bs_pieces *pieces, uint32_t state, uint32_t glob) {
    if (!grow((void **)&pieces->candidates, &pieces->cap_candidates, pieces->n_candidates,
              sizeof *pieces->candidates))
        return false;
    pieces->candidates[pieces->n_candidates++] =
        (struct bs_candidate){glob, pieces->states[state].first};
    pieces->states[state].first = (uint32_t)pieces->n_candidates;
    return true;
}

static void link_state(struct bs_pieces *pieces, uint32_t at) {
    struct bs_piece_state *state = &pieces->states[at];
    const struct bs_piece_state *parent = &pieces->states[state->parent];
    if (state->depth > 1) {
        uint32_t fail = parent->fail;
        uint32_t next = bs_pieces_next(pieces, fail, (char)state->byte);
        while (next == 0 && fail != 0) {
            fail = pieces->states[fail].fail;
            next = bs_pieces_next(pieces, fail, (char)state->byte);
        }
        state->fail = next;
    }
    const struct bs_piece_state *fail = &pieces->states[state->fail];
    state->above = fail->first != 0 ? state->fail : fail->above;
}

bool bs_pieces_link(struct bs_pieces *pieces) {
    if (pieces->n_states == 0)
        return true;
    /* By rising depth, since a fail is shorter: a counting sort. */
    uint32_t deepest = 0;
    for (size_t i = 0; i < pieces->n_states; i++)
        deepest = pieces->states[i].depth > deepest ? pieces->states[i].depth : deepest;
    size_t *begins = calloc((size_t)deepest + 2, sizeof *begins);
    uint32_t *order = malloc(pieces->n_states * sizeof *order);
    bool done = begins != NULL && order != NULL;
    if (done) {
        for (size_t i = 0; i < pieces->n_states; i++)
            begins[pieces->states[i].depth + 1]++;
        for (uint32_t depth = 0; depth <= deepest; depth++)
            begins[depth + 1] += begins[depth];
        for (size_t i = 0; i < pieces->n_states; i++)
            order[begins[pieces->states[i].depth]++] = (uint32_t)i;
        for (size_t i = 1; i < pieces->n_states; i++)
            link_state(pieces, order[i]);
    }
    free(begins);
    free(order);
    return done;
}

void bs_pieces_clear(struct bs_pieces *pieces) {
    free(pieces->states);
    bs_edges_clear(&pieces->edges);
    free(pieces->candidates);
    *pieces = (struct bs_pieces){0};
}

size_t bs_pieces_bytes(const struct bs_pieces *pieces) {
    return pieces->cap_states * sizeof *pieces->states + bs_edges_bytes(&pieces->edges) +
           pieces->cap_candidates * sizeof *pieces->candidates;
}

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* After a star only the last star is ever tried again: what an earlier one could take, it can
 * take too. */
bool bs_segment_matches(const char *glob, size_t glob_len, const char *text, size_t len) {
    size_t g = 0;
    size_t t = 0;
    size_t star = SIZE_MAX; /* where the glob goes on after the last star */
    size_t retry = 0;       /* where the text does, the next time */
    while (true) {
        if (g < glob_len && glob[g] == '*') {
            star = ++g;
            retry = t + 1;
            continue;
        }
        if (g == glob_len && t == len)
            return true;
        if (g < glob_len && t < len && glob[g] == '?' && !continues(text[t])) {
            t++;
            while (t < len && continues(text[t]))
                t++;
            g++;
            continue;
        }
        if (g < glob_len && t < len && glob[g] == text[t] && glob[g] != '?') {
            g++;
            t++;
            continue;
        }
        if (star == SIZE_MAX || retry > len)
            return false;
        g = star;
        t = retry++;
    }
}
