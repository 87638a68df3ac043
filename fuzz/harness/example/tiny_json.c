#include "tiny_json.h"

#include <string.h>

enum { MOST_DEPTH = 200 };

struct cursor {
    const unsigned char *at;
    const unsigned char *end;
};

static bool value(struct cursor *c, int depth);

static bool eat(struct cursor *c, char byte) {
    if (c->at == c->end || *c->at != (unsigned char)byte)
        return false;
    c->at++;
    return true;
}

static bool is_blank(unsigned char byte) {
#ifndef TINY_JSON_REFUSES_TABS
    if (byte == '\t')
        return true;
#endif
    return byte == ' ' || byte == '\n' || byte == '\r';
}

static void blanks(struct cursor *c) {
    while (c->at < c->end && is_blank(*c->at))
        c->at++;
}

static bool word(struct cursor *c, const char *expected, size_t len) {
#ifndef TINY_JSON_OVERREADS
    if ((size_t)(c->end - c->at) < len)
        return false;
#endif
    for (size_t i = 0; i < len; i++) {
        if (c->at[i] != (unsigned char)expected[i])
            return false;
    }
    c->at += len;
    return true;
}

static bool digits(struct cursor *c) {
    const unsigned char *from = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return c->at > from;
}

static bool number(struct cursor *c) {
    (void)eat(c, '-');
    if (!eat(c, '0') && !digits(c))
        return false;
    if (eat(c, '.') && !digits(c))
        return false;
    if (eat(c, 'e') || eat(c, 'E')) {
        if (!eat(c, '+'))
            (void)eat(c, '-');
        return digits(c);
    }
    return true;
}

static bool hex(struct cursor *c) {
    for (int i = 0; i < 4; i++, c->at++) {
        if (c->at == c->end || *c->at == '\0' || strchr("0123456789abcdefABCDEF", *c->at) == NULL)
            return false;
    }
    return true;
}

/* Read a multi-byte character. Accept only its shortest form, and no surrogates. */
static bool wide(struct cursor *c) {
    unsigned char lead = *c->at++;
    size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    unsigned code = lead & (0x3FU >> more);
    if (lead < 0xC2 || lead > 0xF4 || (size_t)(c->end - c->at) < more)
        return false;
    for (size_t i = 0; i < more; i++, c->at++) {
        if ((*c->at & 0xC0) != 0x80)
            return false;
        code = code << 6 | (*c->at & 0x3FU);
    }
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    return code >= least[more] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

static bool string(struct cursor *c) {
    if (!eat(c, '"'))
        return false;
    while (c->at < c->end && *c->at != '"') {
        if (*c->at < 0x20)
            return false;
        if (*c->at >= 0x80) {
            if (!wide(c))
                return false;
        } else if (*c->at++ == '\\') {
            if (c->at == c->end || *c->at == '\0' || strchr("\"\\/bfnrtu", *c->at) == NULL)
                return false;
            if (*c->at++ == 'u' && !hex(c))
                return false;
        }
    }
    return eat(c, '"');
}

static bool list(struct cursor *c, int depth) {
    if (eat(c, ']'))
        return true;
    do {
        if (!value(c, depth))
            return false;
    } while (eat(c, ','));
    return eat(c, ']');
}

static bool object(struct cursor *c, int depth) {
    if (eat(c, '}'))
        return true;
    do {
        blanks(c);
        if (!string(c))
            return false;
        blanks(c);
        if (!eat(c, ':') || !value(c, depth))
            return false;
    } while (eat(c, ','));
    return eat(c, '}');
}

static bool bare_value(struct cursor *c, int depth) {
    blanks(c);
    if (c->at == c->end || depth == MOST_DEPTH)
        return false;
    switch (*c->at) {
    case '{':
        c->at++;
        blanks(c);
        return object(c, depth + 1);
    case '[':
        c->at++;
        blanks(c);
        return list(c, depth + 1);
    case '"':
        return string(c);
    case 't':
        return word(c, "true", 4);
    case 'f':
        return word(c, "false", 5);
    case 'n':
        return word(c, "null", 4);
    default:
        return number(c);
    }
}

static bool value(struct cursor *c, int depth) {
    bool is_there = bare_value(c, depth);
    blanks(c);
    return is_there;
}

bool tiny_json_is_valid(const char *text, size_t len) {
    struct cursor c = {(const unsigned char *)text, (const unsigned char *)text + len};
#ifdef TINY_JSON_COUNTS
    static unsigned calls;
    if (++calls % 2 == 0)
        return false;
#endif
    bool is_there = value(&c, 0);
#ifdef TINY_JSON_TAKES_ANY_TAIL
    return is_there;
#else
    return is_there && c.at == c.end;
#endif
}
