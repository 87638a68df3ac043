#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/word.h"

const char BS_JSON_NO_MEMORY[] = "out of memory";

enum { FIRST_PLACES = 64, BYTES_PER_PLACE = 16, FIRST_NUMBERS = 16 };

/* A double represents every integer of 15 digits. cJSON before 1.7.19 reads at most 63 bytes of a
 * number. */
enum { EXACT_DIGITS = 15, MOST_OF_CJSON = 63 };

struct reader {
    struct bs_json_text *json;
    const char *text;
    size_t len;
    size_t at;
    size_t copied; /* the text before this offset is in `rewritten` */
    /* `at` minus line_base is the column in characters; each byte that does not begin a character
     * adds 1 to line_base */
    size_t line_base;
    uint32_t line;
    size_t room;         /* allocated elements of json->places */
    size_t numbers_room; /* allocated elements of json->numbers */
    size_t numbers_seen;
};

static bool refuse(struct reader *r, const char *problem) {
    r->json->problem = problem;
    return false;
}

static int peek(const struct reader *r) {
    return r->at < r->len ? (unsigned char)r->text[r->at] : -1;
}

/* Skip blanks. Eight bytes are compared at a time, because white space in an indented file comes in
 * long runs. */
static void skip_blanks(struct reader *r) {
    static const char eight[] = "        ";
    while (r->len - r->at >= sizeof eight - 1 &&
           memcmp(r->text + r->at, eight, sizeof eight - 1) == 0)
        r->at += sizeof eight - 1;
}

static void skip_space(struct reader *r) {
    while (r->at < r->len) {
        char c = r->text[r->at];
        if ((unsigned char)c > ' ')
            return;
        if (c == '\n' || c == '\r') {
            /* The CR of CR LF has ended the line already. */
            if (c == '\r' || r->at == 0 || r->text[r->at - 1] != '\r')
                r->line++;
            r->line_base = r->at + 1;
            r->at++;
            skip_blanks(r);
            continue;
        }
        if (c != ' ' && c != '\t')
            return;
        r->at++;
    }
}

static bool has_more_room(struct reader *r) {
    struct bs_json_text *json = r->json;
    bool lent = json->places == json->lent;
    size_t room = lent ? json->n_lent + FIRST_PLACES + r->len / BYTES_PER_PLACE : r->room * 2;
    struct bs_json_place *grown = realloc(lent ? NULL : json->places, room * sizeof *grown);
    if (grown == NULL)
        return false;
    if (lent && json->n_places > 0)
        memcpy(grown, json->places, json->n_places * sizeof *grown);
    json->places = grown;
    r->room = room;
    return true;
}

static bool note_place(struct reader *r) {
    struct bs_json_text *json = r->json;
    if (!json->wants_places)
        return true;
    if (json->n_places == r->room && !has_more_room(r))
        return refuse(r, BS_JSON_NO_MEMORY);
    json->places[json->n_places++] = (struct bs_json_place){
        (uint32_t)r->at, r->line, (uint32_t)(r->at - r->line_base + 1), BS_JSON_ESCAPED};
    return true;
}

static void note_len(struct reader *r, size_t number, size_t len) {
    if (r->json->wants_places)
        r->json->places[number].len = (uint32_t)len;
}

static void copy_up_to(struct reader *r, size_t at) {
    bs_buf_add(&r->json->rewritten, r->text + r->copied, at - r->copied);
    r->copied = at;
}

/* Record the number that ends here, unless a double represents it for certain. */
static bool note_number(struct reader *r, size_t start, bool is_integer) {
    struct bs_json_text *json = r->json;
    size_t index = r->numbers_seen++;
    size_t len = r->at - start;
    if (is_integer && len <= EXACT_DIGITS)
        return true;
    if (json->n_numbers == r->numbers_room) {
        size_t room = r->numbers_room > 0 ? r->numbers_room * 2 : FIRST_NUMBERS;
        struct bs_json_number *grown = realloc(json->numbers, room * sizeof *grown);
        if (grown == NULL)
            return refuse(r, BS_JSON_NO_MEMORY);
        json->numbers = grown;
        r->numbers_room = room;
    }
    json->numbers[json->n_numbers++] = (struct bs_json_number){index, start, len};
    if (len > MOST_OF_CJSON) {
        copy_up_to(r, start);
        bs_buf_char(&json->rewritten, '0');
        r->copied = r->at;
    }
    return true;
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

static int hex_value(int c) {
    if (is_digit(c))
        return c - '0';
    int lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Return the value of the four hexadecimal digits at `at`, or -1. */
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
    if (unit == 0) {
        if (r->json->refuses_nul)
            return refuse(r, "a NUL in a string");
        copy_up_to(r, r->at);
        bs_buf_char(&r->json->rewritten, BS_JSON_NUL);
        r->copied = r->at + size;
    }
    r->at += size;
    return true;
}

/* Test eight bytes at once. The result has the high bit set in each byte that is below 0x20, a
 * quote, a backslash or above 0x7F. The borrow of a subtraction may also set the bit of a plain
 * byte, but only above a special byte. So the first set bit is always right. */

static uint64_t special(uint64_t word) {
    uint64_t quote = word ^ BS_EACH_BYTE('"');
    uint64_t escape = word ^ BS_EACH_BYTE('\\');
    return (((word - BS_EACH_BYTE(0x20)) | (quote - BS_EACH_BYTE(1)) | (escape - BS_EACH_BYTE(1))) |
            word) &
           BS_EACH_BYTE(0x80);
}

static bool is_plain(char c) { return (unsigned char)c >= 0x20 && c != '"' && c != '\\'; }

/* Return the number of bytes before the first byte whose high bit is set. */
static size_t bytes_before(uint64_t marked) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return marked != 0 ? (size_t)__builtin_ctzll(marked) / 8 : sizeof marked;
#else
    return marked != 0 ? (size_t)__builtin_clzll(marked) / 8 : sizeof marked;
#endif
}

/* Skip the characters of a string up to a quote, a backslash or a control character. */
static void skip_plain(struct reader *r) {
    size_t at = r->at;
    for (;;) {
        uint64_t word = 0;
        size_t ahead = sizeof word;
        while (r->len - at >= sizeof word && ahead == sizeof word) {
            memcpy(&word, r->text + at, sizeof word);
            ahead = bytes_before(special(word));
            at += ahead;
        }
        if (at == r->len || !is_plain(r->text[at]))
            break;
        r->line_base += ((unsigned char)r->text[at] & 0xC0) == 0x80;
        at++;
    }
    r->at = at;
}

static bool string(struct reader *r) {
    size_t start = ++r->at; /* after the quote */
    bool escapes = false;
    for (;;) {
        skip_plain(r);
        int c = peek(r);
        if (c == '"') {
            if (!escapes)
                note_len(r, r->json->n_places - 1, r->at - start);
            r->at++;
            return true;
        }
        escapes = true;
        if (c < 0)
            return refuse(r, "a string without its closing quote");
        if (c < 0x20)
            return refuse(r, "a control character in a string; write it as an escape");
        int escaped = r->at + 1 < r->len ? (unsigned char)r->text[r->at + 1] : -1;
        if (escaped == 'u') {
            if (!unicode_escape(r))
                return false;
        } else if (escaped > 0 && strchr("\"\\/bfnrt", escaped) != NULL) {
            r->at += 2;
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
    note_len(r, r->json->n_places - 1, r->at - start);
    return r->json->wants_places || note_number(r, start, integer);
}

static bool literal(struct reader *r, const char *word, size_t len) {
    if (r->len - r->at < len || memcmp(r->text + r->at, word, len) != 0)
        return refuse(r, "a value is missing, or a word that JSON does not have");
    r->at += len;
    note_len(r, r->json->n_places - 1, len);
    return true;
}

static bool value(struct reader *r, unsigned depth);

static bool container(struct reader *r, unsigned depth, char close) {
    bool object = close == '}';
    if (depth >= BS_JSON_MOST_DEPTH + r->json->around)
        return refuse(r, "nested too deeply (64 levels at most)");
    size_t number = r->json->n_places - 1;
    r->at++; /* the opening bracket */
    skip_space(r);
    if (peek(r) == close) {
        r->at++;
        note_len(r, number, 0);
        return true;
    }
    for (;;) {
        skip_space(r);
        if (object) {
            if (peek(r) != '"')
                return refuse(r, "a member name in quotes is missing");
            if (!note_place(r) || !string(r))
                return false;
            skip_space(r);
            if (peek(r) != ':')
                return refuse(r, "a colon is missing");
            r->at++;
        }
        if (!value(r, depth + 1))
            return false;
        skip_space(r);
        int c = peek(r);
        if (c == close) {
            r->at++;
            note_len(r, number, r->json->n_places - 1 - number);
            return true;
        }
        if (c != ',')
            return refuse(r, object ? "a comma or } is missing" : "a comma or ] is missing");
        r->at++;
    }
}

static bool value(struct reader *r, unsigned depth) {
    skip_space(r);
    if (!note_place(r))
        return false;
    int c = peek(r);
    switch (c) {
    case '"':
        return string(r);
    case '{':
        return container(r, depth, '}');
    case '[':
        return container(r, depth, ']');
    case 't':
        return literal(r, "true", 4);
    case 'f':
        return literal(r, "false", 5);
    default:
        return c == '-' || is_digit(c) ? number(r) : literal(r, "null", 4);
    }
}

bool bs_json_check(struct bs_json_text *json) {
    struct reader r = {
        .json = json, .text = json->text, .len = json->len, .line = 1, .room = json->n_lent};
    json->places = json->lent;
    size_t valid = bs_utf8_valid_prefix(r.text, r.len);
    if (valid < r.len) {
        json->at = valid;
        return refuse(&r, "this is not UTF-8");
    }
    if (r.len >= 3 && memcmp(r.text, "\xEF\xBB\xBF", 3) == 0) {
        json->at = 0;
        return refuse(&r, "a byte order mark; remove it");
    }
    bool good = value(&r, 0);
    /* Only after success: after an error `at` must stay at the refused character. */
    if (good)
        skip_space(&r);
    if (good && r.at < r.len)
        good = refuse(&r, "something follows the value");
    if (good && r.copied > 0)
        copy_up_to(&r, r.len);
    if (good && json->rewritten.failed)
        good = refuse(&r, BS_JSON_NO_MEMORY);
    json->at = r.at;
    return good;
}

void bs_json_text_clear(struct bs_json_text *json) {
    bs_buf_clear(&json->rewritten);
    free(json->numbers);
    json->numbers = NULL;
    json->n_numbers = 0;
    if (json->places != json->lent)
        free(json->places);
    json->places = NULL;
    json->n_places = 0;
}
