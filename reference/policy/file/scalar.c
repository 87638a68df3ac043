#include "policy/file/yaml.h"

#include <string.h>

static bool is_one_of(const char *text, size_t len, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
            return true;
    }
    return false;
}

static size_t run_of(const char *text, size_t len, const char *allowed) {
    size_t n = 0;
    while (n < len && text[n] != '\0' && strchr(allowed, text[n]) != NULL)
        n++;
    return n;
}

static const char decimal[] = "0123456789";

static bool is_prefixed_integer(const char *text, size_t len) {
    if (len < 3 || text[0] != '0' || (text[1] != 'o' && text[1] != 'x'))
        return false;
    const char *allowed = text[1] == 'o' ? "01234567" : "0123456789abcdefABCDEF";
    return run_of(text + 2, len - 2, allowed) == len - 2;
}

static bool is_exponent(const char *text, size_t len) {
    if (len < 2 || (text[0] != 'e' && text[0] != 'E'))
        return false;
    size_t sign = text[1] == '+' || text[1] == '-';
    size_t digits = run_of(text + 1 + sign, len - 1 - sign, decimal);
    return digits > 0 && 1 + sign + digits == len;
}

/* Return the kind of a number without its sign: digits, a point and an exponent are allowed. */
static enum bs_node_kind number(const char *text, size_t len) {
    size_t whole = run_of(text, len, decimal);
    if (whole > 0 && whole == len)
        return BS_NODE_INTEGER;
    size_t at = whole;
    size_t part = 0;
    if (at < len && text[at] == '.') {
        at++;
        part = run_of(text + at, len - at, decimal);
        at += part;
    }
    if (whole + part == 0 || (at < len && !is_exponent(text + at, len - at)))
        return BS_NODE_STRING;
    return BS_NODE_REAL;
}

enum bs_node_kind bs_plain_scalar_kind(const char *text, size_t len) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const booleans[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
    static const char *const infinities[] = {".inf", ".Inf", ".INF"};
    static const char *const not_numbers[] = {".nan", ".NaN", ".NAN"};
    if (is_one_of(text, len, nulls, 5))
        return BS_NODE_NULL;
    if (is_one_of(text, len, booleans, 6))
        return BS_NODE_BOOLEAN;
    if (is_one_of(text, len, not_numbers, 3))
        return BS_NODE_REAL;
    if (is_prefixed_integer(text, len))
        return BS_NODE_INTEGER;
    size_t sign = text[0] == '+' || text[0] == '-';
    if (is_one_of(text + sign, len - sign, infinities, 3))
        return BS_NODE_REAL;
    return number(text + sign, len - sign);
}
