/* memmem */
#define _GNU_SOURCE
#include "policy/match/wild.h"

#include <stdint.h>
#include <string.h>

enum { MOST_LOOKED_FOR = 64 };

/* What is left of the glob, or of the text. */
struct rest {
    const char *at;
    const char *end;
};

static size_t length(const struct rest *rest) { return (size_t)(rest->end - rest->at); }

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

static bool skip_character(struct rest *text) {
    if (text->at == text->end)
        return false;
    do
        text->at++;
    while (text->at < text->end && continues(*text->at));
    return true;
}

static bool skip_last_character(struct rest *text) {
    if (text->at == text->end)
        return false;
    do
        text->end--;
    while (text->at < text->end && continues(*text->end));
    return true;
}

/* Up to the first star, or all of it. */
static bool match_start(struct rest *glob, struct rest *text) {
    for (; glob->at < glob->end && *glob->at != '*'; glob->at++) {
        if (*glob->at == '?') {
            if (!skip_character(text))
                return false;
        } else if (text->at == text->end || *text->at++ != *glob->at) {
            return false;
        }
    }
    return true;
}

/* From the end down to the last star, of which there is one. */
static bool match_end(struct rest *glob, struct rest *text) {
    for (; glob->end[-1] != '*'; glob->end--) {
        if (glob->end[-1] == '?') {
            if (!skip_last_character(text))
                return false;
        } else if (text->at == text->end || *--text->end != glob->end[-1]) {
            return false;
        }
    }
    return true;
}

/* Looks for a piece that has a `?` inside, all places at once: bit i of `reached` says that the
 * bytes before this one match the first i bytes of the piece. See policy/match/automaton.h for how
 * a `?` takes the bytes of a character. */
static bool find_asking(const struct rest *piece, struct rest *text) {
    uint64_t by[256] = {0};
    uint64_t by_any = 0;
    for (size_t i = 0; i < length(piece); i++) {
        if (piece->at[i] == '?')
            by_any |= UINT64_C(1) << i;
        else
            by[(unsigned char)piece->at[i]] |= UINT64_C(1) << i;
    }
    const uint64_t last = UINT64_C(1) << (length(piece) - 1) % MOST_LOOKED_FOR;
    uint64_t reached = 1;
    while (text->at < text->end) {
        char c = *text->at++;
        uint64_t gone = reached & (by[(unsigned char)c] | (continues(c) ? 0 : by_any));
        if ((gone & last) != 0)
            return true;
        reached = gone << 1 | (continues(c) ? reached & by_any << 1 : 0) | 1;
    }
    return false;
}

/* What stands between two stars: characters to skip, something to find, characters to skip. */
struct piece {
    size_t before;
    struct rest core;
    size_t after;
};

/* Reads one and the star behind it. */
static struct piece next_piece(struct rest *glob) {
    struct piece piece = {0};
    for (; *glob->at == '?'; glob->at++)
        piece.before++;
    piece.core.at = glob->at;
    for (; *glob->at != '*'; glob->at++)
        piece.after = *glob->at == '?' ? piece.after + 1 : 0;
    piece.core.end = glob->at++ - piece.after;
    return piece;
}

static bool asks(const struct rest *core) { return memchr(core->at, '?', length(core)) != NULL; }

static bool find(const struct rest *core, struct rest *text) {
    if (asks(core))
        return find_asking(core, text);
    const char *place = memmem(text->at, length(text), core->at, length(core));
    if (place != NULL)
        text->at = place + length(core);
    return place != NULL;
}

/* The first place is the best: the piece is as many characters long wherever it is. */
static bool match_piece(const struct piece *piece, struct rest *text) {
    for (size_t i = 0; i < piece->before; i++) {
        if (!skip_character(text))
            return false;
    }
    if (!find(&piece->core, text))
        return false;
    for (size_t i = 0; i < piece->after; i++) {
        if (!skip_character(text))
            return false;
    }
    return true;
}

bool bs_wild_matches(const char *glob, size_t glob_len, const char *text, size_t len) {
    struct rest g = {glob, glob + glob_len};
    struct rest t = {text, text + len};
    if (!match_start(&g, &t))
        return false;
    if (g.at == g.end)
        return t.at == t.end;
    if (!match_end(&g, &t))
        return false;
    g.at++;
    while (g.at < g.end) {
        struct piece piece = next_piece(&g);
        if (!match_piece(&piece, &t))
            return false;
    }
    return true;
}

bool bs_wild_is_simple(const char *glob, size_t len) {
    struct rest g = {glob, glob + len};
    while (g.at < g.end && *g.at != '*')
        g.at++;
    while (g.at < g.end && g.end[-1] != '*')
        g.end--;
    if (g.at < g.end)
        g.at++;
    while (g.at < g.end) {
        struct piece piece = next_piece(&g);
        if (length(&piece.core) > MOST_LOOKED_FOR && asks(&piece.core))
            return false;
    }
    return true;
}
