/* Whether a glob matches a path, written from the words of the contract and not from the matcher:
 * a set of positions in the path is carried through the glob, where the matcher carries a set of
 * positions in the glob through the path. */
#ifndef BS_TESTS_POLICY_ORACLE_H
#define BS_TESTS_POLICY_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ORACLE_LONGEST_PATH = 4096 };

/* reached[j]: what was read of the glob matches the first j bytes of the path. */
struct oracle {
    const char *path;
    size_t len;
    bool *reached;
};

static inline bool oracle_continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* The character at j, if it is not `/`: its length, else 0. */
static inline size_t oracle_character(const struct oracle *o, size_t j) {
    if (j >= o->len || o->path[j] == '/' || oracle_continues(o->path[j]))
        return 0;
    size_t n = 1;
    while (j + n < o->len && oracle_continues(o->path[j + n]))
        n++;
    return n;
}

static inline void oracle_one(struct oracle *o, bool any, char c) {
    for (size_t j = o->len + 1; j-- > 0;) {
        size_t n = !any ? (size_t)(j < o->len && o->path[j] == c) : oracle_character(o, j);
        bool was = o->reached[j];
        o->reached[j] = false;
        if (was && n > 0)
            o->reached[j + n] = true;
    }
}

static inline void oracle_run(struct oracle *o, bool slashes) {
    for (size_t j = 0; j < o->len; j++) {
        if (o->reached[j] && (slashes || o->path[j] != '/'))
            o->reached[j + 1] = true;
    }
}

static inline void oracle_segments(struct oracle *o) {
    bool before = false;
    for (size_t j = 0; j <= o->len; j++) {
        bool was = o->reached[j];
        o->reached[j] = was || (before && o->path[j - 1] == '/');
        before = before || was;
    }
}

/* A glob that does not end in a `**` segment. */
static inline void oracle_walk(struct oracle *o, const char *glob, size_t len) {
    memset(o->reached, 0, o->len + 1);
    o->reached[0] = true;
    for (size_t i = 0; i < len;) {
        bool starts = i == 0 || glob[i - 1] == '/';
        size_t stars = 0;
        while (i + stars < len && glob[i + stars] == '*')
            stars++;
        bool whole = starts && (i + stars == len || glob[i + stars] == '/');
        if (stars == 0) {
            oracle_one(o, glob[i] == '?', glob[i]);
            i++;
        } else if (stars == 1) {
            if (whole)
                oracle_one(o, true, 0);
            oracle_run(o, false);
            i++;
        } else if (whole && i + stars < len) {
            oracle_segments(o);
            i += stars + 1;
        } else {
            oracle_run(o, true);
            i += stars;
        }
    }
}

static inline bool oracle_matches(const char *glob, size_t glob_len, const char *path, size_t len) {
    bool reached[ORACLE_LONGEST_PATH + 1];
    struct oracle o = {path, len, reached};
    if (glob_len == 1 && glob[0] == '.')
        glob_len = 0;
    if (len == 1 && path[0] == '.')
        o.len = len = 0;
    bool below = false;
    while (glob_len >= 3 && memcmp(glob + glob_len - 3, "/**", 3) == 0) {
        glob_len -= 3;
        below = true;
    }
    oracle_walk(&o, glob, glob_len);
    if (reached[len])
        return true;
    for (size_t j = 0; below && j < len; j++) {
        if (reached[j] && path[j] == '/')
            return true;
    }
    return false;
}

#endif
