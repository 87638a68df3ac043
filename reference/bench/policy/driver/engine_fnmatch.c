/* Matches rules with fnmatch, which has no `**`. So a rule is split at its `**` segments. Each
 * piece has a fixed number of segments, and fnmatch compares it with the same number of segments of
 * the path. The first place at which a piece matches is enough, because a `**` accepts all segments
 * before it. */
#define _GNU_SOURCE
#include "bench.h"

#include <fnmatch.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { MOST_SEGMENTS = 64 * 1024 };

struct piece {
    char *glob;
    size_t segments;
};

struct rule {
    struct piece *pieces;
    size_t n;
    bool open_start; /* the rule begins with a `**` */
    bool open_end;
    size_t segments; /* number of segments of all pieces; a path with fewer cannot match */
};

struct compiled {
    struct rule *rules;
    size_t n;
    locale_t locale;
    char *path; /* a copy of the path with room for NULs */
    size_t starts[MOST_SEGMENTS + 1];
};

static void drop(void *compiled) {
    struct compiled *made = compiled;
    for (size_t i = 0; i < made->n; i++) {
        for (size_t k = 0; k < made->rules[i].n; k++)
            free(made->rules[i].pieces[k].glob);
        free(made->rules[i].pieces);
    }
    free(made->rules);
    free(made->path);
    if (made->locale != (locale_t)0)
        freelocale(made->locale);
    free(made);
}

static bool add_segment(struct piece *piece, struct bs_buf *glob, const char *at, size_t len) {
    if (piece->segments++ > 0)
        bs_buf_char(glob, '/');
    if (len == 1 && *at == '*')
        bs_buf_char(glob, '?'); /* `?` precedes the star, because a segment is never empty */
    for (size_t i = 0; i < len; i++) {
        if (at[i] == '*' && i + 1 < len && at[i + 1] == '*')
            return false;
        if (at[i] == '[')
            bs_buf_char(glob, '\\');
        bs_buf_char(glob, at[i]);
    }
    return true;
}

static bool close_piece(struct rule *rule, struct piece *piece, struct bs_buf *glob) {
    bs_buf_char(glob, '\0');
    if (glob->failed)
        return false;
    piece->glob = glob->data;
    rule->pieces[rule->n++] = *piece;
    rule->segments += piece->segments;
    *piece = (struct piece){NULL, 0};
    *glob = (struct bs_buf)BS_BUF_INIT;
    return true;
}

static bool cut(const struct bench_text *text, struct rule *rule) {
    rule->pieces = calloc(text->len + 1, sizeof *rule->pieces);
    if (rule->pieces == NULL)
        return false;
    if (text->len == 1 && text->data[0] == '.')
        return true; /* there are no pieces, so only the path without segments matches */
    struct piece piece = {NULL, 0};
    struct bs_buf glob = BS_BUF_INIT;
    bool good = true;
    for (const char *at = text->data, *end = at + text->len; good && at < end;) {
        size_t len = strcspn(at, "/");
        bool any_depth = len == 2 && at[0] == '*' && at[1] == '*';
        if (!any_depth)
            good = add_segment(&piece, &glob, at, len);
        else if (at == text->data)
            rule->open_start = true;
        if (any_depth && piece.segments > 0)
            good = close_piece(rule, &piece, &glob);
        at += len + 1;
        if (at >= end && any_depth)
            rule->open_end = true;
    }
    if (good && piece.segments > 0)
        good = close_piece(rule, &piece, &glob);
    bs_buf_clear(&glob);
    return good;
}

static void *compile(const struct bench_lines *rules, char *why, size_t why_size) {
    struct compiled *made = calloc(1, sizeof *made);
    if (made != NULL)
        made->rules = calloc(rules->n, sizeof *made->rules);
    if (made == NULL || made->rules == NULL) {
        free(made);
        (void)snprintf(why, why_size, "out of memory");
        return NULL;
    }
    bool wide = false;
    for (; made->n < rules->n; made->n++) {
        const struct bench_text *rule = &rules->items[made->n];
        wide = wide || memchr(rule->data, '?', rule->len) != NULL;
        if (!cut(rule, &made->rules[made->n])) {
            made->n++;
            drop(made);
            (void)snprintf(why, why_size, "fnmatch cannot say %.200s", rule->data);
            return NULL;
        }
    }
    /* The C locale is several times as fast. Only for `?` a locale with UTF-8 is needed, because
     * `?` matches a character and not a byte. */
    made->locale = newlocale(LC_ALL_MASK, wide ? "C.UTF-8" : "C", (locale_t)0);
    if (made->locale == (locale_t)0)
        return made;
    (void)uselocale(made->locale);
    return made;
}

/* True if the piece matches the segments from `first` on. */
static bool fits(const struct compiled *made, const struct piece *piece, size_t first) {
    size_t end = made->starts[first + piece->segments] - 1;
    char old = made->path[end];
    made->path[end] = '\0';
    bool fit = fnmatch(piece->glob, made->path + made->starts[first], FNM_PATHNAME) == 0;
    made->path[end] = old;
    return fit;
}

static bool matches(const struct compiled *made, const struct rule *rule, size_t segments) {
    if (segments < rule->segments)
        return false;
    size_t at = 0;
    size_t left = rule->segments;
    for (size_t i = 0; i < rule->n; i++) {
        const struct piece *piece = &rule->pieces[i];
        bool last = i + 1 == rule->n;
        size_t latest = segments - left;
        if (last && !rule->open_end) {
            bool fixed = i == 0 && !rule->open_start;
            return (!fixed || latest == 0) && fits(made, piece, latest);
        }
        if (i == 0 && !rule->open_start)
            latest = 0;
        while (at <= latest && !fits(made, piece, at))
            at++;
        if (at > latest)
            return false;
        at += piece->segments;
        left -= piece->segments;
    }
    return rule->n > 0 || rule->open_start || segments == 0;
}

static ptrdiff_t highest(void *compiled, const char *raw, size_t len) {
    struct compiled *made = compiled;
    struct bench_text path;
    if (!bench_normal(raw, len, &path))
        return BENCH_BAD_PATH;
    char *copy = realloc(made->path, path.len + 1);
    if (copy == NULL)
        return BENCH_GAVE_UP;
    made->path = copy;
    memcpy(copy, path.data, path.len);
    copy[path.len] = '\0';
    size_t segments = 0;
    for (size_t i = 0; path.len > 0 && i <= path.len; i++) {
        if (i > 0 && i < path.len && copy[i] != '/')
            continue;
        if (segments == MOST_SEGMENTS)
            return BENCH_GAVE_UP;
        if (i < path.len)
            made->starts[segments++] = i == 0 ? 0 : i + 1;
    }
    made->starts[segments] = path.len + 1;
    for (size_t i = made->n; i-- > 0;)
        if (matches(made, &made->rules[i], segments))
            return (ptrdiff_t)i;
    return BENCH_NO_RULE;
}

static const char *tier(const void *compiled) {
    const struct compiled *made = compiled;
    return made->locale == (locale_t)0 ? "no locale" : NULL;
}

const struct bench_engine bench_fnmatch = {"fnmatch", compile, highest, drop, tier, NULL, false};
