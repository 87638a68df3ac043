#include "support/glob_oracle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = BS_ORACLE_LONGEST_PATH / 64 + 1 };

/* The state of one match: a bit set of positions in the path. Bit j of `reached` is set if the part
 * of the glob that was read so far matches the first j bytes of the path. Only the words from
 * `first` to `last` can have bits. If `first` > `last`, the set is empty. */
struct oracle {
    const char *path;
    size_t len;
    size_t words;
    size_t first;
    size_t last;
    uint64_t *reached;
    const uint64_t *names;  /* positions of bytes other than slashes */
    const uint64_t *inside; /* positions of bytes inside a character (UTF-8 continuation bytes) */
};

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

static void look_at(const char *path, size_t len, uint64_t *names, uint64_t *inside) {
    for (size_t w = 0; w <= len / 64; w++) {
        size_t n = len - w * 64 < 64 ? len - w * 64 : 64;
        const char *bytes = path + w * 64;
        names[w] = inside[w] = 0;
        for (size_t j = 0; j < n; j++) {
            names[w] |= (uint64_t)(bytes[j] != '/') << j;
            inside[w] |= (uint64_t)continues(bytes[j]) << j;
        }
    }
}

static bool dead(const struct oracle *o) { return o->first > o->last; }

/* Return a mask of the positions in word w that have a byte. The position after the end of the path
 * has none. */
static uint64_t bytes_of(const struct oracle *o, size_t w) {
    size_t n = o->len - w * 64;
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* Store the new set of word w, and widen `first` and `last` of this step accordingly. */
static void store_word(struct oracle *o, size_t w, uint64_t set, size_t *first, size_t *last) {
    o->reached[w] = set;
    if (set == 0)
        return;
    *last = w;
    if (*first > w)
        *first = w;
}

/* Match the byte c. */
static void literal(struct oracle *o, char c) {
    size_t first = o->words;
    size_t last = 0;
    uint64_t carry = 0;
    for (size_t w = o->first; w < o->words && (w <= o->last || carry != 0); w++) {
        uint64_t moves = 0;
        for (uint64_t rest = o->reached[w] & bytes_of(o, w); rest != 0; rest &= rest - 1) {
            unsigned j = (unsigned)__builtin_ctzll(rest);
            moves |= (uint64_t)(o->path[w * 64 + j] == c) << j;
        }
        store_word(o, w, moves << 1 | carry, &first, &last);
        carry = moves >> 63;
    }
    o->first = first;
    o->last = last;
}

/* Add two words of long numbers. `carry` goes from one word to the next. */
static uint64_t add(uint64_t a, uint64_t b, uint64_t *carry) {
    uint64_t sum = a + *carry;
    uint64_t over = sum < a;
    sum += b;
    *carry = over | (sum < b);
    return sum;
}

/* Match one character other than a slash: go on by one byte, and then over its continuation bytes.
 * Adding a bit to a run of ones moves the bit to the position after the run. */
static void character(struct oracle *o) {
    size_t first = o->words;
    size_t last = 0;
    uint64_t carry = 0;
    uint64_t past = 0;
    for (size_t w = o->first; w < o->words && (w <= o->last || (carry | past) != 0); w++) {
        uint64_t begins = o->reached[w] & o->names[w] & ~o->inside[w];
        uint64_t moved = begins << 1 | carry;
        uint64_t gone = add(moved & o->inside[w], o->inside[w], &past);
        store_word(o, w, (moved | gone) & ~o->inside[w], &first, &last);
        carry = begins >> 63;
    }
    o->first = first;
    o->last = last;
}

/* Match any number of bytes, with `slashes` also slashes. Every position of a run that follows a
 * reached one becomes reached, and so does the position after the run. */
static void run(struct oracle *o, bool slashes) {
    size_t first = o->words;
    size_t last = 0;
    uint64_t carry = 0;
    for (size_t w = o->first; w < o->words && (w <= o->last || carry != 0); w++) {
        uint64_t taken = slashes ? bytes_of(o, w) : o->names[w];
        uint64_t set = o->reached[w];
        store_word(o, w, set | (add(set & taken, taken, &carry) ^ taken), &first, &last);
    }
    o->first = first;
    o->last = last;
}

/* Match zero or more segments, each with the slash that follows it. */
static void segments(struct oracle *o) {
    uint64_t from = -(o->reached[o->first] & -o->reached[o->first]);
    uint64_t carry = 0;
    for (size_t w = o->first; w < o->words; w++) {
        uint64_t slashes = bytes_of(o, w) & ~o->names[w] & from;
        o->reached[w] |= slashes << 1 | carry;
        if (o->reached[w] != 0)
            o->last = w;
        carry = slashes >> 63;
        from = UINT64_MAX;
    }
}

/* Match a run of stars, and the slash after the run if the run is a whole segment. Return the
 * number of bytes of the glob that were used. */
static size_t wild(struct oracle *o, const char *glob, size_t len, bool starts) {
    size_t stars = 1;
    while (stars < len && glob[stars] == '*')
        stars++;
    bool whole = starts && (stars == len || glob[stars] == '/');
    if (stars == 1) {
        if (whole)
            character(o);
        run(o, false);
    } else if (whole && stars < len) {
        segments(o);
        stars++;
    } else {
        run(o, true);
    }
    return stars;
}

/* Match a glob that does not end in a `**` segment. */
static void walk(struct oracle *o, const char *glob, size_t len) {
    for (size_t i = 0; i < len && !dead(o);) {
        if (glob[i] == '*') {
            i += wild(o, glob + i, len - i, i == 0 || glob[i - 1] == '/');
        } else if (glob[i] == '?') {
            character(o);
            i++;
        } else {
            literal(o, glob[i]);
            i++;
        }
    }
}

static bool at_a_slash(const struct oracle *o) {
    for (size_t w = o->first; w <= o->last; w++) {
        if ((o->reached[w] & bytes_of(o, w) & ~o->names[w]) != 0)
            return true;
    }
    return false;
}

bool bs_oracle_glob_matches(const char *glob, size_t glob_len, const char *path, size_t len) {
    static _Thread_local uint64_t reached[WORDS];
    static _Thread_local uint64_t names[WORDS];
    static _Thread_local uint64_t inside[WORDS];
    if (len > BS_ORACLE_LONGEST_PATH)
        abort();
    if (glob_len == 1 && glob[0] == '.')
        glob_len = 0;
    if (len == 1 && path[0] == '.')
        len = 0;
    bool below = false;
    while (glob_len >= 3 && memcmp(glob + glob_len - 3, "/**", 3) == 0) {
        glob_len -= 3;
        below = true;
    }
    struct oracle o = {path, len, len / 64 + 1, 0, 0, reached, names, inside};
    look_at(path, len, names, inside);
    memset(reached, 0, o.words * sizeof *reached);
    reached[0] = 1;
    walk(&o, glob, glob_len);
    return (reached[len / 64] >> len % 64 & 1) != 0 || (below && at_a_slash(&o));
}
