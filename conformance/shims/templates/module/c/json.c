/* Find the end of a JSON text, as RFC 8259 has it. This file needs no change. */
#include "shim.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *space(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Return the number of an escape \uXXXX, or -1. */
static long unit(const char *at) {
    char digits[5] = {0};
    if (at[0] != '\\' || at[1] != 'u')
        return -1;
    strncpy(digits, at + 2, 4);
    return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

const char *string_end(const char *at) {
    if (*at != '"')
        return NULL;
    for (at++; *at != '"'; at++) {
        if ((unsigned char)*at < ' ')
            return NULL;
        if (*at != '\\')
            continue;
        long code = unit(at);
        bool first = code >= 0xD800 && code < 0xDC00, second = code >= 0xDC00 && code < 0xE000;
        if (code < 0 && (at[1] == '\0' || !strchr("\"\\/bfnrt", at[1])))
            return NULL;
        if (second || (first && (unit(at + 6) < 0xDC00 || unit(at + 6) > 0xDFFF)))
            return NULL; /* half of a surrogate pair */
        at += first ? 11 : code >= 0 ? 5 : 1;
    }
    return at + 1;
}

static const char *digits_end(const char *at) {
    return isdigit((unsigned char)*at) ? at + strspn(at, "0123456789") : NULL;
}

static const char *number_end(const char *at) {
    const char *from = at, *end;
    at += *at == '-';
    end = *at == '0' ? at + 1 : digits_end(at);
    if (end && *end == '.')
        end = digits_end(end + 1);
    if (end && (*end == 'e' || *end == 'E'))
        end = digits_end(end + 1 + (end[1] == '+' || end[1] == '-'));
    return isfinite(strtod(from, NULL)) ? end : NULL;
}

const char *value_end(const char *at, int levels) {
    static const char *const words[] = {"null", "true", "false"};
    for (size_t i = 0; i < 3; i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    if (*at == '"')
        return string_end(at);
    if (*at != '[' && *at != '{')
        return number_end(at);
    char close = *at == '[' ? ']' : '}';
    at = space(at + 1);
    if (*at == close || levels == 0)
        return levels == 0 ? NULL : at + 1;
    for (;; at = space(at + 1)) {
        if (close == '}') {
            at = string_end(at);
            at = at ? space(at) : "";
            if (*at++ != ':')
                return NULL;
        }
        at = value_end(space(at), levels - 1);
        at = at ? space(at) : "";
        if (*at != ',')
            return *at == close ? at + 1 : NULL;
    }
}
