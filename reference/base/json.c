#define _GNU_SOURCE
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* What cJSON cannot hold is handed through it in bytes that UTF-8 never has: a NUL inside a string
 * becomes FF; an integer of more than 15 digits becomes a string that starts with FE; a number with
 * a fraction or an exponent becomes one that starts with FD, or 1.0 could not be told from 1. */
enum { NUL_MARK = 0xFF, INTEGER_MARK = 0xFE, REAL_MARK = 0xFD, EXACT_DIGITS = 15 };

struct reader {
    const char *text;
    size_t len;
    size_t at;
    struct bs_buf out; /* the same document as cJSON is to see it */
    const char *problem;
};

static bool refuse(struct reader *r, const char *problem) {
    if (r->problem == NULL)
        r->problem = problem;
    return false;
}

static int peek(const struct reader *r) {
    return r->at < r->len ? (unsigned char)r->text[r->at] : -1;
}

static void take(struct reader *r) { bs_buf_char(&r->out, r->text[r->at++]); }

static void skip_space(struct reader *r) {
    while (r->at < r->len && strchr(" \t\n\r", r->text[r->at]) != NULL && r->text[r->at] != '\0')
        r->at++;
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static int hex_value(int c) {
    if (is_digit(c))
        return c - '0';
    int lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The four digits behind \u at `at`, or -1. */
static int hex4(const struct reader *r, size_t at) {
    int value = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = at + i < r->len ? hex_value((unsigned char)r->text[at + i]) : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool unicode_escape(struct reader *r) {
    int unit = hex4(r, r->at + 2);
    size_t size = 6;
    if (unit < 0)
        return refuse(r, "\\u needs four hexadecimal digits");
    if (unit >= 0xDC00 && unit <= 0xDFFF)
        return refuse(r, "a low surrogate without a high one");
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        bool follows =
            r->at + 7 < r->len && r->text[r->at + 6] == '\\' && r->text[r->at + 7] == 'u';
        int low = follows ? hex4(r, r->at + 8) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return refuse(r, "a high surrogate without a low one");
        size = 12;
    }
    if (unit == 0)
        bs_buf_char(&r->out, (char)NUL_MARK);
    else
        bs_buf_add(&r->out, r->text + r->at, size);
    r->at += size;
    return true;
}

static bool is_plain(char c) { return (unsigned char)c >= 0x20 && c != '"' && c != '\\'; }

static bool string(struct reader *r) {
    take(r); /* the quote */
    for (;;) {
        size_t start = r->at;
        while (r->at < r->len && is_plain(r->text[r->at]))
            r->at++;
        bs_buf_add(&r->out, r->text + start, r->at - start);
        int c = peek(r);
        if (c < 0)
            return refuse(r, "a string without its closing quote");
        if (c < 0x20)
            return refuse(r, "a control character in a string; write it as an escape");
        if (c == '"') {
            take(r);
            return true;
        }
        int escaped = r->at + 1 < r->len ? (unsigned char)r->text[r->at + 1] : -1;
        if (escaped == 'u') {
            if (!unicode_escape(r))
                return false;
        } else if (escaped > 0 && strchr("\"\\/bfnrt", escaped) != NULL) {
            take(r);
            take(r);
        } else {
            return refuse(r, "an unknown escape");
        }
    }
}

static bool digits(struct reader *r) {
    if (!is_digit(peek(r)))
        return refuse(r, "a digit is missing");
    while (is_digit(peek(r)))
        r->at++;
    return true;
}

static bool number(struct reader *r) {
    size_t start = r->at;
    bool integer = true;
    if (peek(r) == '-')
        r->at++;
    if (peek(r) == '0') {
        r->at++;
        if (is_digit(peek(r)))
            return refuse(r, "a number with a leading zero");
    } else if (!digits(r)) {
        return false;
    }
    if (peek(r) == '.') {
        integer = false;
        r->at++;
        if (!digits(r))
            return false;
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        integer = false;
        r->at++;
        if (peek(r) == '+' || peek(r) == '-')
            r->at++;
        if (!digits(r))
            return false;
    }
    bool marked = !integer || r->at - start > EXACT_DIGITS;
    if (marked) {
        bs_buf_char(&r->out, '"');
        bs_buf_char(&r->out, (char)(integer ? INTEGER_MARK : REAL_MARK));
    }
    bs_buf_add(&r->out, r->text + start, r->at - start);
    if (marked)
        bs_buf_char(&r->out, '"');
    return true;
}

static bool literal(struct reader *r, const char *word) {
    size_t len = strlen(word);
    if (r->len - r->at < len || memcmp(r->text + r->at, word, len) != 0)
        return refuse(r, "a value is missing, or a word that JSON does not have");
    bs_buf_add(&r->out, word, len);
    r->at += len;
    return true;
}

static bool value(struct reader *r, unsigned depth);

static bool container(struct reader *r, unsigned depth, char close) {
    bool object = close == '}';
    if (depth >= BS_JSON_MOST_DEPTH)
        return refuse(r, "nested too deeply (64 levels at most)");
    take(r); /* the opening bracket */
    skip_space(r);
    if (peek(r) == close) {
        take(r);
        return true;
    }
    for (;;) {
        skip_space(r);
        if (object) {
            if (peek(r) != '"')
                return refuse(r, "a member name in quotes is missing");
            if (!string(r))
                return false;
            skip_space(r);
            if (peek(r) != ':')
                return refuse(r, "a colon is missing");
            take(r);
        }
        if (!value(r, depth + 1))
            return false;
        skip_space(r);
        if (peek(r) == close) {
            take(r);
            return true;
        }
        if (peek(r) != ',')
            return refuse(r, object ? "a comma or } is missing" : "a comma or ] is missing");
        take(r);
    }
}

static bool value(struct reader *r, unsigned depth) {
    skip_space(r);
    switch (peek(r)) {
    case '{':
        return container(r, depth, '}');
    case '[':
        return container(r, depth, ']');
    case '"':
        return string(r);
    case 't':
        return literal(r, "true");
    case 'f':
        return literal(r, "false");
    case 'n':
        return literal(r, "null");
    case '-':
        return number(r);
    default:
        return is_digit(peek(r)) ? number(r) : literal(r, "null");
    }
}

struct name {
    const char *text;
};

static int by_text(const void *a, const void *b) {
    const struct name *x = a;
    const struct name *y = b;
    return strcmp(x->text, y->text);
}

/* cJSON keeps both members of one name and finds the first; other readers find the last. */
static bool has_duplicates(const cJSON *object) {
    size_t n = (size_t)cJSON_GetArraySize(object);
    if (n < 2)
        return false;
    struct name *names = calloc(n, sizeof *names);
    if (names == NULL)
        return true;
    size_t i = 0;
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, object) names[i++].text = member->string;
    qsort(names, n, sizeof *names, by_text);
    bool found = false;
    for (i = 1; i < n && !found; i++)
        found = strcmp(names[i - 1].text, names[i].text) == 0;
    free(names);
    return found;
}

static bool any_duplicates(const cJSON *item) {
    if (cJSON_IsObject(item) && has_duplicates(item))
        return true;
    if (!cJSON_IsObject(item) && !cJSON_IsArray(item))
        return false;
    const cJSON *child = NULL;
    cJSON_ArrayForEach(child, item) {
        if (any_duplicates(child))
            return true;
    }
    return false;
}

static void locate(const char *text, size_t at, const char *problem, struct bs_json_error *err) {
    err->line = 1;
    size_t line_start = 0;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            err->line++;
            line_start = i + 1;
        }
    }
    err->column = at - line_start + 1;
    size_t len = strlen(problem);
    if (len >= sizeof err->message)
        len = sizeof err->message - 1;
    memcpy(err->message, problem, len);
    err->message[len] = '\0';
}

cJSON *bs_json_parse(const char *text, size_t len, struct bs_json_error *err) {
    struct reader r = {.text = text, .len = len, .out = BS_BUF_INIT};
    cJSON *tree = NULL;
    size_t valid = bs_utf8_valid_prefix(text, len);
    if (valid < len) {
        locate(text, valid, "this is not UTF-8", err);
        return NULL;
    }
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        locate(text, 0, "a byte order mark; remove it", err);
        return NULL;
    }
    bool good = value(&r, 0);
    /* Only then: a place of refusal may be white space itself. */
    if (good)
        skip_space(&r);
    if (good && r.at < r.len)
        good = refuse(&r, "something follows the value");
    if (good) {
        struct bs_bytes exact = bs_buf_take(&r.out);
        tree = exact.data != NULL ? cJSON_ParseWithLength(exact.data, exact.len) : NULL;
        bs_bytes_clear(&exact);
        if (tree == NULL)
            r.problem = "out of memory";
    }
    if (tree != NULL && any_duplicates(tree)) {
        cJSON_Delete(tree);
        tree = NULL;
        r.at = 0;
        r.problem = "an object has a member twice";
    }
    if (tree == NULL)
        locate(text, r.at, r.problem != NULL ? r.problem : "out of memory", err);
    bs_buf_clear(&r.out);
    return tree;
}

static bool has_mark(const cJSON *item, int mark) {
    return cJSON_IsString(item) && (unsigned char)item->valuestring[0] == mark;
}

char *bs_json_bytes(const cJSON *item, size_t *len, bool *is_string) {
    *is_string =
        cJSON_IsString(item) && !has_mark(item, INTEGER_MARK) && !has_mark(item, REAL_MARK);
    if (!*is_string)
        return NULL;
    char *copy = strdup(item->valuestring);
    if (copy == NULL)
        return NULL;
    *len = strlen(copy);
    for (size_t i = 0; i < *len; i++) {
        if ((unsigned char)copy[i] == NUL_MARK)
            copy[i] = '\0';
    }
    return copy;
}

bool bs_json_u64(const cJSON *item, uint64_t *value_out) {
    if (cJSON_IsNumber(item)) {
        double number_value = item->valuedouble;
        if (!(number_value >= 0 && number_value <= 999999999999999.0))
            return false;
        *value_out = (uint64_t)number_value;
        return (double)*value_out == number_value;
    }
    if (!has_mark(item, INTEGER_MARK))
        return false;
    uint64_t sum = 0;
    for (const char *digit = item->valuestring + 1; *digit != '\0'; digit++) {
        if (!is_digit((unsigned char)*digit))
            return false;
        uint64_t step = (uint64_t)(*digit - '0');
        if (sum > (UINT64_MAX - step) / 10)
            return false;
        sum = sum * 10 + step;
    }
    *value_out = sum;
    return true;
}

void bs_json_put_string(struct bs_buf *out, const char *text, size_t len) {
    static const char hex[] = "0123456789abcdef";
    bs_buf_char(out, '"');
    size_t plain = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        bs_buf_add(out, text + plain, i - plain);
        plain = i + 1;
        char escape[6] = {'\\', (char)c, '0', '0', hex[c >> 4], hex[c & 15]};
        bool is_short = c >= 0x20 || c == '\n';
        if (!is_short)
            escape[1] = 'u';
        else if (c == '\n')
            escape[1] = 'n';
        bs_buf_add(out, escape, is_short ? 2 : sizeof escape);
    }
    if (len > plain)
        bs_buf_add(out, text + plain, len - plain);
    bs_buf_char(out, '"');
}
