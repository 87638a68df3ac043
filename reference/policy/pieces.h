/* Segments with wildcards, found by a literal piece of each: at the start of the segment, at its
 * end, or anywhere. A piece that is there makes its globs candidates, which are then matched one by
 * one. So nothing can explode, and of thousands of globs few are looked at.
 */
#ifndef BS_POLICY_PIECES_H
#define BS_POLICY_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/edges.h"

enum bs_anchor {
    BS_ANCHOR_START,    /* begins with a literal piece */
    BS_ANCHOR_END,      /* ends with one, and does not begin with one */
    BS_ANCHOR_ANYWHERE, /* its longest piece */
    BS_ANCHOR_NONE,     /* has no literal byte */
    BS_ANCHORS
};

struct bs_piece_state {
    uint32_t parent;
    uint32_t depth;
    uint32_t fail;  /* the state of the longest proper end of this one's piece */
    uint32_t above; /* the next state on the way of fails that has candidates; 0: none */
    uint32_t first; /* a candidate, plus one; 0: none */
    bool paired;    /* with extensions: see the trie */
    uint8_t byte;
};

struct bs_candidate {
    uint32_t glob;
    uint32_t next; /* of the same piece, plus one */
};

/* All pieces of one anchor. The first state is the empty piece. */
struct bs_pieces {
    struct bs_piece_state *states;
    size_t n_states;
    size_t cap_states;
    struct bs_edges edges; /* from state and byte to state */
    struct bs_candidate *candidates;
    size_t n_candidates;
    size_t cap_candidates;
};

/* Which piece of a segment's glob is looked for. */
enum bs_anchor bs_piece_of(const char *glob, size_t len, size_t *at, size_t *piece_len);

/* The state of a piece, new ones if need be; 0 when memory ran out. Pieces at the end are added and
 * read backwards. An empty piece is state 0 as well: bs_pieces_start. */
bool bs_pieces_start(struct bs_pieces *pieces);
uint32_t bs_pieces_state(struct bs_pieces *pieces, enum bs_anchor anchor, const char *piece,
                         size_t len);
/* Makes a glob a candidate where this piece is found. False when memory ran out. */
bool bs_pieces_add(struct bs_pieces *pieces, uint32_t state, uint32_t glob);
/* After the last one, for pieces that may be anywhere. */
bool bs_pieces_link(struct bs_pieces *pieces);
void bs_pieces_clear(struct bs_pieces *pieces);
size_t bs_pieces_bytes(const struct bs_pieces *pieces);

/* The state after one more byte; 0: no piece goes on like that. */
static inline uint32_t bs_pieces_next(const struct bs_pieces *pieces, uint32_t state, char c) {
    return bs_edges_find(&pieces->edges, state, (unsigned char)c);
}

/* Whether the glob of a segment (`*` and `?`, no `**`) matches it; at most glob x segment steps. */
bool bs_segment_matches(const char *glob, size_t glob_len, const char *text, size_t len);

#endif
