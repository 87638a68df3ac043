/* Segments with wildcards, found by a literal piece of each: at the start of the segment, at its
 * end, or anywhere. A piece that is there makes its globs candidates, which are then matched one by
 * one. So nothing can explode, and of thousands of globs few are looked at.
 *
 * Pieces are found by hashing. A filter of one bit for each beginning of a piece ends most searches
 * after a few bytes, and one for each whole piece says where it is worth to compare.
 */
#ifndef BS_POLICY_PIECES_H
#define BS_POLICY_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bs_anchor {
    BS_ANCHOR_START,    /* begins with a literal piece */
    BS_ANCHOR_END,      /* ends with one, and does not begin with one */
    BS_ANCHOR_ANYWHERE, /* its longest piece */
    BS_ANCHOR_NONE,     /* has no literal byte */
    BS_ANCHORS
};

/* So many bytes of a piece are hashed; the others are compared. */
enum { BS_PIECE_HASHED = 24, BS_PIECE_HASHED_ANYWHERE = 4 };

struct bs_piece {
    size_t at; /* in texts */
    uint32_t len;
    uint32_t next;       /* of the same hash, plus one */
    uint32_t candidates; /* the first, plus one */
    bool paired;         /* with extensions: see the trie */
};

struct bs_candidate {
    uint32_t glob;
    uint32_t next; /* of the same piece, plus one */
};

/* All pieces of one anchor. */
struct bs_pieces {
    enum bs_anchor anchor;
    struct bs_piece *items;
    uint32_t n;
    uint32_t cap;
    struct bs_candidate *candidates;
    uint32_t n_candidates;
    uint32_t cap_candidates;
    char *texts;
    size_t texts_len;
    size_t texts_cap;
    uint32_t *heads;      /* by hash: a piece, plus one */
    uint32_t n_heads;     /* a power of two, at least n; 0 before the first */
    uint64_t *wholes;     /* eight bits a head: hashes of pieces */
    uint64_t *beginnings; /* 64 bits a head: hashes of their beginnings, and of them */
    uint32_t longest;     /* bytes that are hashed of the longest piece */
    uint32_t lengths;     /* bit i: some piece is hashed to i bytes */
};

/* Which piece of a segment's glob is looked for. */
enum bs_anchor bs_piece_of(const char *glob, size_t len, size_t *at, size_t *piece_len);

/* The number of a piece, a new one if need be. False when memory ran out. */
bool bs_pieces_add(struct bs_pieces *pieces, const char *text, size_t len, uint32_t *piece);
/* Makes a glob a candidate where the piece is found. False when memory ran out. */
bool bs_pieces_add_candidate(struct bs_pieces *pieces, uint32_t piece, uint32_t glob);
void bs_pieces_clear(struct bs_pieces *pieces);
size_t bs_pieces_bytes(const struct bs_pieces *pieces);

/* Calls `found` once for each piece that the segment has. `seen` is room for a bit for each. */
void bs_pieces_find(const struct bs_pieces *pieces, const char *text, size_t len, uint64_t *seen,
                    void (*found)(void *context, uint32_t piece), void *context);

#endif
