#define _GNU_SOURCE
#include "sbpl/writable.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include <boxspec/sbpl.h>

/* Limits of the reading. A text has thousands of regular expressions, but most of them begin with
 * another path and are not matched. */
enum { DEEPEST = 32, MOST_REGEXES = 1000 };

enum met { NO, YES, UNKNOWN };

struct reader {
    const char *at;
    const char *end;
    const char *path;
    unsigned depth;
    unsigned regexes;
    char string[4 * BS_SBPL_STRING_BYTES];
};

static bool is_end(char c) {
    return c == '(' || c == ')' || c == '"' || c == ';' || c == ' ' || c == '\t' || c == '\n' ||
           c == '\r';
}

/* Skip blanks and comments; return the next character, or NUL at the end. */
static char peek(struct reader *r) {
    for (; r->at < r->end; r->at++) {
        if (*r->at == ';')
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        if (r->at == r->end || (is_end(*r->at) && strchr("()\"", *r->at) != NULL) ||
            !is_end(*r->at))
            break;
    }
    return r->at < r->end ? *r->at : '\0';
}

/* Read a word. Its length is 0 if there is no word. */
static const char *word(struct reader *r, size_t *len) {
    (void)peek(r);
    const char *from = r->at;
    while (r->at < r->end && !is_end(*r->at))
        r->at++;
    *len = (size_t)(r->at - from);
    return from;
}

static bool is_word(const char *word, size_t len, const char *wanted) {
    return len == strlen(wanted) && memcmp(word, wanted, len) == 0;
}

/* Read a string into r->string, without its escapes. Returns false if the string is too long or
 * does not end. */
static bool string(struct reader *r) {
    size_t n = 0;
    bool fits = true;
    for (r->at++; r->at < r->end && *r->at != '"'; r->at++) {
        if (*r->at == '\\' && r->at + 1 < r->end)
            r->at++;
        if (n + 1 < sizeof r->string)
            r->string[n++] = *r->at;
        else
            fits = false;
    }
    r->string[n] = '\0';
    if (r->at == r->end)
        return false;
    r->at++;
    return fits;
}

/* Skip the rest of the current list, including its closing bracket. */
static void skip(struct reader *r) {
    for (unsigned open = 1; open > 0;) {
        char c = peek(r);
        size_t len;
        if (c == '\0')
            return;
        if (c == '"') {
            (void)string(r);
        } else if (c == '(' || c == ')') {
            open += c == '(' ? 1U : -1U;
            r->at++;
        } else {
            (void)word(r, &len);
        }
    }
}

static bool is_below(const char *path, const char *dir) {
    size_t n = strlen(dir);
    while (n > 0 && dir[n - 1] == '/')
        n--;
    return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* False if the expression begins with literal text, and the path does not begin with this text. */
static bool can_match(const char *expression, const char *path) {
    if (*expression++ != '^')
        return true;
    for (; *expression != '\0'; expression++, path++) {
        if (*expression == '\\')
            expression++;
        else if (strchr(".[](){}*+?|^$", *expression) != NULL)
            return true;
        /* The character before a repetition or an alternative may be missing in the path. */
        if (*expression == '\0' || (expression[1] != '\0' && strchr("*?|", expression[1]) != NULL))
            return true;
        if (*expression != *path)
            return strchr(expression, '|') != NULL;
    }
    return true;
}

/* False if the expression has a count, a repeated group, or a backslash before a letter or digit.
 * regcomp and regexec may need gigabytes and hours for such expressions, and no translated rule has
 * them. */
static bool is_bounded(const char *expression) {
    for (const char *at = expression; *at != '\0'; at++) {
        if (*at == '{' || (*at == ')' && (at[1] == '*' || at[1] == '+')))
            return false;
        if (*at == '\\' && (*++at == '\0' || isalnum((unsigned char)*at)))
            return false;
    }
    return true;
}

static enum met matches(struct reader *r) {
    regex_t compiled;
    if (!can_match(r->string, r->path))
        return NO;
    if (!is_bounded(r->string))
        return UNKNOWN;
    if (++r->regexes > MOST_REGEXES || regcomp(&compiled, r->string, REG_EXTENDED | REG_NOSUB) != 0)
        return UNKNOWN;
    bool met = regexec(&compiled, r->path, 0, NULL, 0) == 0;
    regfree(&compiled);
    return met ? YES : NO;
}

static enum met opposite(enum met met) { return met == UNKNOWN ? UNKNOWN : met == YES ? NO : YES; }

static enum met filter(struct reader *r);

/* Read the filters up to the end of the list. The list is a clause, a require-any or a
 * require-all. */
static enum met filters(struct reader *r, bool all) {
    enum met met = NO;
    while (peek(r) == '(') {
        enum met one = all ? opposite(filter(r)) : filter(r);
        if (one == YES || (one == UNKNOWN && met == NO))
            met = one;
    }
    if (peek(r) != ')')
        met = UNKNOWN;
    skip(r);
    return all ? opposite(met) : met;
}

static enum met of_string(struct reader *r, const char *name, size_t len) {
    enum met met = UNKNOWN;
    if (peek(r) == '"' && string(r)) {
        if (is_word(name, len, "literal") || is_word(name, len, "path"))
            met = strcmp(r->string, r->path) == 0 ? YES : NO;
        else if (is_word(name, len, "subpath"))
            met = is_below(r->path, r->string) ? YES : NO;
        else if (is_word(name, len, "regex"))
            met = matches(r);
        if (peek(r) != ')' && met == NO)
            met = UNKNOWN;
    }
    skip(r);
    return met;
}

static enum met filter(struct reader *r) {
    size_t len;
    r->at++;
    const char *name = word(r, &len);
    enum met met = UNKNOWN;
    if (r->depth == DEEPEST) {
        skip(r);
        return UNKNOWN;
    }
    r->depth++;
    if (is_word(name, len, "require-any") || is_word(name, len, "require-all"))
        met = filters(r, is_word(name, len, "require-all"));
    else if (is_word(name, len, "require-not"))
        met = opposite(filters(r, false));
    else
        met = of_string(r, name, len);
    r->depth--;
    return met;
}

static bool is_write(const char *name, size_t len) {
    static const char *const wide[] = {"default", "file*", "file-write*", "file-write-data",
                                       "file-write-unlink"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (is_word(name, len, wide[i]))
            return true;
    return false;
}

/* Read the rest of a clause after its first word. Returns YES if the clause is about writing and
 * matches the path. */
static enum met clause(struct reader *r) {
    bool about = false;
    size_t len;
    for (;;) {
        const char *name = word(r, &len);
        if (len == 0)
            break;
        about |= is_write(name, len);
    }
    if (!about || peek(r) == ')') {
        skip(r);
        return about ? YES : NO;
    }
    return filters(r, false);
}

bool bs_sbpl_may_write(const char *text, size_t len, const char *path) {
    struct reader *r = malloc(sizeof *r);
    bool allowed = false;
    if (r == NULL)
        return true;
    *r = (struct reader){.at = text, .end = text + len, .path = path};
    for (char c = peek(r); c != '\0'; c = peek(r)) {
        size_t n;
        if (c != '(') {
            if (c == '"')
                (void)string(r);
            else if (c == ')')
                r->at++;
            else
                (void)word(r, &n);
            continue;
        }
        r->at++;
        const char *name = word(r, &n);
        bool allows = is_word(name, n, "allow");
        if (!allows && !is_word(name, n, "deny")) {
            skip(r);
            continue;
        }
        enum met met = clause(r);
        if (met == YES || (met == UNKNOWN && allows))
            allowed = allows;
    }
    free(r);
    return allowed;
}
