#include "support/glob_oracle.h"

#include <stdlib.h>
#include <string.h>

/* reached[j]: what was read of the glob matches the first j bytes of the path. Nothing outside of
 * `first` to `last` is reached, so that a literal costs one comparison; nothing at all is when
 * `first` is the greater. */
struct oracle {
    const char *path;
    size_t len;
    bool *reached;
    size_t first;
    size_t last;
};

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* The character at j, if it is not `/`: its length, else 0. */
static size_t character(const struct oracle *o, size_t j) {
    if (j >= o->len || o->path[j] == '/' || continues(o->path[j]))
        return 0;
    size_t n = 1;
    while (j + n < o->len && continues(o->path[j + n]))
        n++;
    return n;
}

static void one(struct oracle *o, bool any, char c) {
    size_t first = o->len + 1;
    size_t last = 0;
    /* From the back: what is reached now is not looked at again. */
    for (size_t j = o->last + 1; j-- > o->first;) {
        if (!o->reached[j])
            continue;
        o->reached[j] = false;
        size_t n = !any ? (size_t)(j < o->len && o->path[j] == c) : character(o, j);
        if (n == 0)
            continue;
        first = j + n;
        last = last == 0 ? first : last;
        o->reached[first] = true;
    }
    o->first = first;
    o->last = last;
}

static void reach(struct oracle *o, size_t j) {
    o->reached[j] = true;
    o->last = j > o->last ? j : o->last;
}

static void run(struct oracle *o, bool slashes) {
    for (size_t j = o->first; j < o->len && j <= o->last; j++) {
        if (o->reached[j] && (slashes || o->path[j] != '/'))
            reach(o, j + 1);
    }
}

static void segments(struct oracle *o) {
    bool before = false;
    for (size_t j = o->first; j <= o->len; j++) {
        bool was = o->reached[j];
        if (before && o->path[j - 1] == '/')
            reach(o, j);
        before = before || was;
    }
}

/* A run of stars, and the slash behind it where it is a segment. Returns how many bytes that is. */
static size_t wild(struct oracle *o, const char *glob, size_t len, bool starts) {
    size_t stars = 1;
    while (stars < len && glob[stars] == '*')
        stars++;
    bool whole = starts && (stars == len || glob[stars] == '/');
    if (stars == 1) {
        if (whole)
            one(o, true, 0);
        run(o, false);
    } else if (whole && stars < len) {
        segments(o);
        stars++;
    } else {
        run(o, true);
    }
    return stars;
}

/* A glob that does not end in a `**` segment. */
static void walk(struct oracle *o, const char *glob, size_t len) {
    memset(o->reached, 0, o->len + 1);
    o->reached[0] = true;
    for (size_t i = 0; i < len && o->first <= o->last;) {
        if (glob[i] != '*') {
            one(o, glob[i] == '?', glob[i]);
            i++;
        } else {
            i += wild(o, glob + i, len - i, i == 0 || glob[i - 1] == '/');
        }
    }
}

bool bs_oracle_glob_matches(const char *glob, size_t glob_len, const char *path, size_t len) {
    static _Thread_local bool reached[BS_ORACLE_LONGEST_PATH + 1];
    if (len > BS_ORACLE_LONGEST_PATH)
        abort();
    struct oracle o = {path, len, reached, 0, 0};
    if (glob_len == 1 && glob[0] == '.')
        glob_len = 0;
    if (len == 1 && path[0] == '.')
        o.len = len = 0;
    bool below = false;
    while (glob_len >= 3 && memcmp(glob + glob_len - 3, "/**", 3) == 0) {
        glob_len -= 3;
        below = true;
    }
    walk(&o, glob, glob_len);
    if (reached[len])
        return true;
    for (size_t j = 0; below && j < len; j++) {
        if (reached[j] && path[j] == '/')
            return true;
    }
    return false;
}
