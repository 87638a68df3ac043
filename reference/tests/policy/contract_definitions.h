/* The definitions of the normal forms and of the match, written from the policy contract
 * (POLICY-PATH-..., POLICY-RULE-..., POLICY-GLOB-...), clause by clause and without regard to cost.
 * They share no code with the library or with fuzz/support/glob_oracle.c. */
#ifndef BS_TESTS_POLICY_CONTRACT_DEFINITIONS_H
#define BS_TESTS_POLICY_CONTRACT_DEFINITIONS_H

#include <string.h>

#include "support/harness.h"

enum { ROOM = 128 };

struct text {
    char bytes[ROOM];
    size_t len;
};

static inline void append(struct text *text, const char *bytes, size_t len) {
    assert_true(text->len + len < ROOM);
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

static inline bool is(const struct text *text, const char *word) {
    return text->len == strlen(word) && memcmp(text->bytes, word, text->len) == 0;
}

/* ---- Definition of the normal forms ---- */

static inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* POLICY-PATH-02 and POLICY-RULE-04. True if the text is empty, absolute, `~`, or begins with `~/`
 * or a drive prefix. */
static inline bool is_foreign(const struct text *text) {
    const char *t = text->bytes;
    bool letter = text->len > 0 && ((t[0] >= 'a' && t[0] <= 'z') || (t[0] >= 'A' && t[0] <= 'Z'));
    return text->len == 0 || t[0] == '/' || is(text, "~") ||
           (text->len >= 2 && t[0] == '~' && t[1] == '/') ||
           (text->len >= 2 && letter && t[1] == ':');
}

static inline bool has(const struct text *text, char byte) {
    return memchr(text->bytes, byte, text->len) != NULL;
}

/* True if the text is UTF-8. The alphabets below have only two letters beyond ASCII: e acute, which
 * has two bytes, and the first of these bytes by itself. */
static inline bool is_utf8(const struct text *text) {
    for (size_t i = 0; i < text->len; i++) {
        if (text->bytes[i] == '\xC3') {
            if (i + 1 == text->len || text->bytes[i + 1] != '\xA9')
                return false;
            i++;
        }
    }
    return true;
}

/* POLICY-PATH-01, -03 and POLICY-RULE-02, -05. Returns false if there is a `..` segment. */
static inline bool drop_segments(const struct text *from, struct text *to) {
    *to = (struct text){.len = 0};
    size_t i = 0;
    while (i < from->len) {
        struct text segment = {.len = 0};
        for (; i < from->len && from->bytes[i] != '/'; i++)
            append(&segment, &from->bytes[i], 1);
        i++;
        if (is(&segment, ".."))
            return false;
        if (segment.len == 0 || is(&segment, "."))
            continue;
        if (to->len > 0)
            append(to, "/", 1);
        append(to, segment.bytes, segment.len);
    }
    if (to->len == 0)
        append(to, ".", 1);
    return true;
}

static inline bool has_blank_end(const struct text *text) {
    return is_blank(text->bytes[0]) || is_blank(text->bytes[text->len - 1]);
}

/* Returns false if the path is refused. */
static inline bool path_by_definition(const struct text *path, struct text *normal) {
    return !is_foreign(path) && !has(path, '\\') && !has(path, '\0') && is_utf8(path) &&
           !has_blank_end(path) && drop_segments(path, normal) && !is_foreign(normal) &&
           !has_blank_end(normal);
}

static inline struct text without_blanks(const struct text *text) {
    size_t start = 0;
    size_t end = text->len;
    while (start < end && is_blank(text->bytes[start]))
        start++;
    while (end > start && is_blank(text->bytes[end - 1]))
        end--;
    struct text result = {.len = 0};
    append(&result, text->bytes + start, end - start);
    return result;
}

/* POLICY-GLOB-09: a run of three or more stars means `**`. */
static inline struct text with_short_runs(const struct text *text) {
    struct text result = {.len = 0};
    for (size_t i = 0; i < text->len; i++) {
        if (i < 2 || memcmp(text->bytes + i - 2, "***", 3) != 0)
            append(&result, &text->bytes[i], 1);
    }
    return result;
}

static inline bool body_by_definition(const struct text *body, struct text *normal) {
    struct text slashed = without_blanks(body);
    for (size_t i = 0; i < slashed.len; i++) {
        if (slashed.bytes[i] == '\\')
            slashed.bytes[i] = '/';
    }
    struct text dropped;
    if (is_foreign(&slashed) || has(&slashed, '\0') || !is_utf8(&slashed) ||
        !drop_segments(&slashed, &dropped) || is_foreign(&dropped))
        return false;
    *normal = with_short_runs(&dropped);
    return true;
}

static inline bool rule_by_definition(const struct text *rule, bool *negated, struct text *normal) {
    struct text body = without_blanks(rule);
    *negated = body.len > 0 && body.bytes[0] == '!';
    if (*negated) {
        struct text rest = {.len = 0};
        append(&rest, body.bytes + 1, body.len - 1);
        body = without_blanks(&rest);
        if (body.len == 0 || body.bytes[0] == '!')
            return false;
    }
    return body_by_definition(&body, normal);
}

/* ---- Definition of the match ---- */

/* The code points of a glob or path in normal form. The root has no code point. */
struct points {
    unsigned at[ROOM];
    size_t n;
};

static inline struct points points_of(const struct text *text) {
    struct points points = {.n = 0};
    for (size_t i = 0; i < text->len && !is(text, "."); i++) {
        if (text->bytes[i] == '\xC3')
            points.at[points.n++] = 0xE9, i++;
        else
            points.at[points.n++] = (unsigned char)text->bytes[i];
    }
    return points;
}

/* True if the glob from code point `at` on matches the path from code point `from` on. The glob
 * must not end in a `**` segment after a slash. */
static inline bool rest_matches(const struct points *glob, size_t at, const struct points *path,
                                size_t from) {
    if (at == glob->n)
        return from == path->n;
    if (glob->at[at] != '*') {
        bool same = from < path->n && (glob->at[at] == path->at[from] ||
                                       (glob->at[at] == '?' && path->at[from] != '/'));
        return same && rest_matches(glob, at + 1, path, from + 1);
    }
    bool starts = at == 0 || glob->at[at - 1] == '/';
    size_t after = at + 1;
    bool one_star = after == glob->n || glob->at[after] != '*';
    after += !one_star;
    bool ends = after == glob->n || glob->at[after] == '/';
    if (one_star) {
        /* POLICY-GLOB-03 and -04 */
        size_t least = starts && ends ? 1 : 0;
        for (size_t taken = 0;; taken++) {
            if (taken >= least && rest_matches(glob, after, path, from + taken))
                return true;
            if (from + taken == path->n || path->at[from + taken] == '/')
                return false;
        }
    }
    /* The stars match whole segments, each with its slash (POLICY-GLOB-06), or else any text
     * (POLICY-GLOB-08). */
    bool segments = starts && after < glob->n && ends;
    for (size_t to = from; to <= path->n; to++) {
        bool allowed = !segments || to == from || path->at[to - 1] == '/';
        if (allowed && rest_matches(glob, after + segments, path, to))
            return true;
    }
    return false;
}

static inline bool match_by_definition(const struct points *glob, const struct points *path) {
    size_t n = glob->n;
    if (n < 3 || glob->at[n - 3] != '/' || glob->at[n - 2] != '*' || glob->at[n - 1] != '*')
        return rest_matches(glob, 0, path, 0);
    /* POLICY-GLOB-07: the glob matches the paths that the part before the `**` matches, and every
     * path below them. */
    struct points top = *glob;
    top.n -= 3;
    if (match_by_definition(&top, path))
        return true;
    struct points above = *path;
    for (above.n = 1; above.n < path->n; above.n++) {
        if (path->at[above.n] == '/' && match_by_definition(&top, &above))
            return true;
    }
    return false;
}

#endif
