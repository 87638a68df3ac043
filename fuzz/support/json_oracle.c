#include "support/json_oracle.h"

#include <stdint.h>
#include <string.h>

/* A state defines which byte or token may follow. DEAD is 0, so that every transition that is not
 * in the table is a refusal. */
enum state {
    DEAD,
    VALUE,      /* a value */
    FIRST_ITEM, /* a value or the end of the list */
    FIRST_KEY,  /* a name or the end of the object */
    KEY,        /* a name */
    COLON,
    /* a value is complete; a comma, the end of the container or the end of the text may follow */
    BEHIND,
    STRING,
    ESCAPE,
    HEX_1, /* the four digits of \u */
    HEX_2,
    HEX_3,
    HEX_4,
    NUL_2, /* only zeros so far */
    NUL_3,
    NUL_4,
    SURROGATE, /* the first digit is D */
    HIGH_3,
    HIGH_4,
    LOW_BACKSLASH, /* the low surrogate must follow */
    LOW_U,
    LOW_1,
    LOW_2,
    LOW_3,
    LOW_4,
    MINUS,
    ZERO, /* a number may end in ZERO, DIGITS, FRACTION and EXPONENT */
    DIGITS,
    POINT,
    FRACTION,
    E_SIGN,
    E_DIGIT,
    EXPONENT,
    T_R,
    T_U,
    F_A,
    F_L,
    F_S,
    N_U,
    N_L,
    LAST_E, /* of true and false */
    LAST_L, /* of null */
    STATES,

    /* These are actions, not states. */
    OPEN_MAP = STATES,
    OPEN_LIST,
    CLOSE_MAP,
    CLOSE_LIST,
    COMMA,
    QUOTE,
    WORD_ENDS,
    SEES_NUL
};

#define SPACE " \t\n\r"
#define DECIMAL "0123456789"
#define HEX "0123456789abcdefABCDEF"

static const struct edge {
    unsigned char from;
    unsigned char to;
    const char *bytes;
} edges[] = {
    {VALUE, VALUE, SPACE},
    {VALUE, OPEN_MAP, "{"},
    {VALUE, OPEN_LIST, "["},
    {VALUE, QUOTE, "\""},
    {VALUE, MINUS, "-"},
    {VALUE, ZERO, "0"},
    {VALUE, DIGITS, "123456789"},
    {VALUE, T_R, "t"},
    {VALUE, F_A, "f"},
    {VALUE, N_U, "n"},
    {FIRST_ITEM, FIRST_ITEM, SPACE},
    {FIRST_ITEM, CLOSE_LIST, "]"},
    {FIRST_KEY, FIRST_KEY, SPACE},
    {FIRST_KEY, QUOTE, "\""},
    {FIRST_KEY, CLOSE_MAP, "}"},
    {KEY, KEY, SPACE},
    {KEY, QUOTE, "\""},
    {COLON, COLON, SPACE},
    {COLON, VALUE, ":"},
    {BEHIND, BEHIND, SPACE},
    {BEHIND, COMMA, ","},
    {BEHIND, CLOSE_MAP, "}"},
    {BEHIND, CLOSE_LIST, "]"},
    {ESCAPE, STRING, "\"\\/bfnrt"},
    {ESCAPE, HEX_1, "u"},
    {HEX_1, HEX_2, HEX},
    {HEX_1, NUL_2, "0"},
    {HEX_1, SURROGATE, "dD"},
    {HEX_2, HEX_3, HEX},
    {HEX_3, HEX_4, HEX},
    {HEX_4, STRING, HEX},
    {NUL_2, HEX_3, HEX},
    {NUL_2, NUL_3, "0"},
    {NUL_3, HEX_4, HEX},
    {NUL_3, NUL_4, "0"},
    {NUL_4, STRING, HEX},
    {NUL_4, SEES_NUL, "0"},
    {SURROGATE, HEX_3, "01234567"},
    {SURROGATE, HIGH_3, "89abAB"},
    {HIGH_3, HIGH_4, HEX},
    {HIGH_4, LOW_BACKSLASH, HEX},
    {LOW_BACKSLASH, LOW_U, "\\"},
    {LOW_U, LOW_1, "u"},
    {LOW_1, LOW_2, "dD"},
    {LOW_2, LOW_3, "cdefCDEF"},
    {LOW_3, LOW_4, HEX},
    {LOW_4, STRING, HEX},
    {MINUS, ZERO, "0"},
    {MINUS, DIGITS, "123456789"},
    {ZERO, POINT, "."},
    {ZERO, E_SIGN, "eE"},
    {DIGITS, DIGITS, DECIMAL},
    {DIGITS, POINT, "."},
    {DIGITS, E_SIGN, "eE"},
    {POINT, FRACTION, DECIMAL},
    {FRACTION, FRACTION, DECIMAL},
    {FRACTION, E_SIGN, "eE"},
    {E_SIGN, E_DIGIT, "+-"},
    {E_SIGN, EXPONENT, DECIMAL},
    {E_DIGIT, EXPONENT, DECIMAL},
    {EXPONENT, EXPONENT, DECIMAL},
    {T_R, T_U, "r"},
    {T_U, LAST_E, "u"},
    {F_A, F_L, "a"},
    {F_L, F_S, "l"},
    {F_S, LAST_E, "s"},
    {N_U, N_L, "u"},
    {N_L, LAST_L, "l"},
    {LAST_E, WORD_ENDS, "e"},
    {LAST_L, WORD_ENDS, "l"},
};

static unsigned char table[STATES][256];

static void fill_table(void) {
    if (table[STRING]['a'] == STRING)
        return;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        const struct edge *edge = &edges[i];
        for (const char *byte = edge->bytes; *byte != '\0'; byte++)
            table[edge->from][(unsigned char)*byte] = edge->to;
    }
    for (int byte = 0; byte < 256; byte++) {
        if (table[FIRST_ITEM][byte] == DEAD)
            table[FIRST_ITEM][byte] = table[VALUE][byte];
        if (byte >= 0x20)
            table[STRING][byte] = STRING;
    }
    table[STRING]['"'] = QUOTE;
    table[STRING]['\\'] = ESCAPE;
}

struct reader {
    const char *text;
    struct bs_fuzz_pool *pool;
    struct bs_fuzz_node *open[BS_FUZZ_JSON_DEPTH];
    struct bs_fuzz_node **link; /* the pointer to set to the next node */
    struct bs_fuzz_node *last;
    size_t depth;
    size_t counted; /* the offset to which `place` belongs */
    struct bs_fuzz_place place;
    bool is_key; /* the string that is being read is a name */
    bool takes_nul;
};

static struct bs_fuzz_place place_at(struct reader *r, size_t at) {
    struct bs_fuzz_place more = {1, 1};
    /* a CR LF is never split here, because both are white space, and only tokens get a place */
    more = bs_fuzz_place_of(r->text + r->counted, at - r->counted);
    if (more.line > 1)
        r->place = (struct bs_fuzz_place){r->place.line + more.line - 1, more.column};
    else
        r->place.column += more.column - 1;
    r->counted = at;
    return r->place;
}

static void add(struct reader *r, enum bs_fuzz_kind kind, size_t at) {
    struct bs_fuzz_node *node = bs_fuzz_take(r->pool, sizeof *node);
    node->kind = kind;
    node->place = place_at(r, at);
    *r->link = node;
    r->link = &node->next;
    r->last = node;
}

static unsigned hex_at(const char *digits) {
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)digits[i];
        value = value * 16 + (c <= '9' ? c - '0' : (c | 0x20U) - 'a' + 10U);
    }
    return value;
}

static size_t put_code_point(char *to, unsigned code) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3F));
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(leads[size] | code);
    return size;
}

/* Decode the content of a string. The state table has checked that the string is well-formed. */
static void decode(struct reader *r, const char *from, const char *end) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    char *text = bs_fuzz_take(r->pool, (size_t)(end - from) + 1);
    size_t len = 0;
    while (from < end) {
        if (*from != '\\') {
            text[len++] = *from++;
        } else if (from[1] != 'u') {
            text[len++] = meant[strchr(letters, from[1]) - letters];
            from += 2;
        } else {
            unsigned code = hex_at(from + 2);
            from += 6;
            if (code >= 0xD800 && code <= 0xDBFF) {
                code = 0x10000 + ((code - 0xD800) << 10) + (hex_at(from + 2) - 0xDC00);
                from += 6;
            }
            len += put_code_point(text + len, code);
        }
    }
    r->last->text = text;
    r->last->len = len;
}

static enum state leave(struct reader *r, enum bs_fuzz_kind kind) {
    if (r->depth == 0 || r->open[r->depth - 1]->kind != kind)
        return DEAD;
    r->last = r->open[--r->depth];
    r->link = &r->last->next;
    return BEHIND;
}

static enum state open_container(struct reader *r, enum bs_fuzz_kind kind, size_t at) {
    if (r->depth == BS_FUZZ_JSON_DEPTH)
        return DEAD;
    add(r, kind, at);
    r->open[r->depth++] = r->last;
    r->link = &r->last->first;
    return kind == BS_FUZZ_MAP ? FIRST_KEY : FIRST_ITEM;
}

static bool is_number(enum state state) { return state >= MINUS && state <= EXPONENT; }

static bool number_may_end(enum state state) {
    return state == ZERO || state == DIGITS || state == FRACTION || state == EXPONENT;
}

static void end_word(struct reader *r, size_t from, size_t end) {
    if (r->last == NULL)
        return;
    r->last->text = bs_fuzz_keep(r->pool, r->text + from, end - from);
    r->last->len = end - from;
}

static void end_number(struct reader *r, size_t from, size_t end) {
    end_word(r, from, end);
    if (r->last != NULL && strpbrk(r->last->text, ".eE") != NULL)
        r->last->kind = BS_FUZZ_REAL;
}

/* Handle a byte that starts a token or needs more than a change of state. */
static enum state act(struct reader *r, enum state from, enum state to, size_t at, size_t *word) {
    switch (to) {
    case OPEN_MAP:
        return open_container(r, BS_FUZZ_MAP, at);
    case OPEN_LIST:
        return open_container(r, BS_FUZZ_LIST, at);
    case CLOSE_MAP:
        return leave(r, BS_FUZZ_MAP);
    case CLOSE_LIST:
        return leave(r, BS_FUZZ_LIST);
    case COMMA:
        if (r->depth == 0)
            return DEAD;
        return r->open[r->depth - 1]->kind == BS_FUZZ_MAP ? KEY : VALUE;
    case QUOTE:
        if (from == STRING) {
            decode(r, r->text + *word + 1, r->text + at);
            return r->is_key ? COLON : BEHIND;
        }
        r->is_key = from == FIRST_KEY || from == KEY;
        add(r, BS_FUZZ_STRING, at);
        *word = at;
        return STRING;
    case WORD_ENDS:
        end_word(r, *word, at + 1);
        return BEHIND;
    case SEES_NUL:
        return r->takes_nul ? STRING : DEAD;
    default:
        break;
    }
    if (from == VALUE || from == FIRST_ITEM) {
        enum bs_fuzz_kind kind = to == N_U                ? BS_FUZZ_NULL
                                 : to == T_R || to == F_A ? BS_FUZZ_BOOLEAN
                                                          : BS_FUZZ_INTEGER;
        if (to != VALUE && to != FIRST_ITEM && to != DEAD) {
            add(r, kind, at);
            *word = at;
        }
    }
    return to;
}

static bool is_within_word(enum state state) { return state >= STRING && state < STATES; }

static enum state step(struct reader *r, enum state state, size_t at, size_t *word) {
    enum state to = (enum state)table[state][(unsigned char)r->text[at]];
    if (to == DEAD && number_may_end(state)) {
        end_number(r, *word, at);
        state = BEHIND;
        to = (enum state)table[state][(unsigned char)r->text[at]];
    }
    return is_number(state) ? to : act(r, state, to, at, word);
}

void bs_fuzz_json_read(const char *text, size_t len, bool takes_nul, struct bs_fuzz_pool *pool,
                       struct bs_fuzz_json *json) {
    struct bs_fuzz_node *root = NULL;
    struct reader r = {
        .text = text, .pool = pool, .link = &root, .place = {1, 1}, .takes_nul = takes_nul};
    enum state state = VALUE;
    size_t word = 0;
    size_t at = 0;
    fill_table();
    for (; at < len; at++) {
        /* fast path for most bytes, which are inside a string */
        if (state == STRING && table[STRING][(unsigned char)text[at]] == STRING)
            continue;
        enum state next = step(&r, state, at, &word);
        if (next == DEAD)
            break;
        state = next;
    }
    if (at == len && number_may_end(state)) {
        end_number(&r, word, at);
        state = BEHIND;
    }
    *json = (struct bs_fuzz_json){.at = at, .alien = bs_fuzz_first_alien(text, len)};
    json->word = is_within_word(state) && !number_may_end(state) ? word : at;
    if (at == len && state == BEHIND && r.depth == 0 && json->alien == SIZE_MAX)
        json->root = root;
}
