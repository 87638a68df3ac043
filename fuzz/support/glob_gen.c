#include "support/glob_gen.h"

#include <string.h>

#define TEXT(literal)                                                                              \
    { sizeof(literal) - 1, literal }

struct symbol {
    uint8_t len;
    char text[4]; /* no NUL at the end */
};

/* The first two entries end a text. A drawn text has about sixteen symbols, and also ends when the
 * input is used up. The last entry selects the second table. fuzz/seed depends on these
 * positions. */
static const struct symbol symbols[32] = {
    TEXT(""),   TEXT(""),       TEXT("a"),      TEXT("b"),          TEXT("c"), TEXT("x"),
    TEXT("/"),  TEXT("/"),      TEXT("/"),      TEXT("*"),          TEXT("*"), TEXT("*"),
    TEXT("**"), TEXT("**/"),    TEXT("/**"),    TEXT("?"),          TEXT("?"), TEXT("."),
    TEXT("./"), TEXT("\u00e9"), TEXT("\u6f22"), TEXT("\U0001f600"), TEXT("["), TEXT("]"),
    TEXT("{"),  TEXT("\n"),     TEXT("A"),      TEXT("!"),          TEXT("-"), TEXT("aa"),
    TEXT("ab"), TEXT(""),
};

/* Symbols that are refused, rewritten or likely to be misread. */
static const struct symbol rarities[32] = {
    TEXT(".."),
    TEXT("/../"),
    TEXT("\\"),
    TEXT(" "),
    TEXT("\t"),
    TEXT("~"),
    TEXT("~/"),
    TEXT("C:"),
    TEXT("\0"),
    TEXT("\xc3"),
    TEXT("\xa9"),
    TEXT("\xed\xa0\x80"),
    TEXT("***"),
    TEXT("\xf0\x80\x80\xaf"),
    TEXT("//"),
    TEXT("/./"),
    TEXT("+"),
    TEXT("("),
    TEXT(")"),
    TEXT("}"),
    TEXT(","),
    TEXT("^"),
    TEXT("$"),
    TEXT("|"),
    TEXT("a..b"),
    TEXT("\u00df"),
    TEXT("e\u0301"),
    TEXT("\u0301"),
    TEXT("\u212a"),
    TEXT("\xe0\x80\xaf"),
    TEXT("\xf4\x90\x80\x80"),
    TEXT("\xc0\xaf"),
};

enum { ENDS = 2, RARE = 31, REPEATS = 0xF0 };

static void add(struct bs_gen_text *out, const char *text, size_t len) {
    if (len <= sizeof out->data - out->len) {
        memcpy(out->data + out->len, text, len);
        out->len += len;
    }
}

/* Always copy four bytes, because this is faster than copying the exact length, and drawing is a
 * large part of the cost of an input. */
static void add_symbol(struct bs_gen_text *out, const struct symbol *symbol) {
    if (sizeof symbol->text <= sizeof out->data - out->len) {
        memcpy(out->data + out->len, symbol->text, sizeof symbol->text);
        out->len += symbol->len;
    } else {
        add(out, symbol->text, symbol->len);
    }
}

static void add_byte(struct bs_gen_text *out, char c) {
    if (out->len < sizeof out->data)
        out->data[out->len++] = c;
}

void bs_gen_symbols(struct bs_fuzz_provider *provider, struct bs_gen_text *out) {
    out->len = 0;
    while (out->len < sizeof out->data) {
        uint8_t byte = bs_fuzz_byte(provider);
        unsigned times = 1;
        if (byte >= REPEATS) {
            /* Repeat the symbol, so that short inputs also make long texts. */
            times = 1 + (byte - REPEATS) * 2U;
            byte = bs_fuzz_byte(provider);
        }
        if (byte % 32 < ENDS)
            return;
        const struct symbol *symbol = &symbols[byte % 32];
        if (byte % 32 == RARE)
            symbol = &rarities[bs_fuzz_byte(provider) % 32];
        for (; times > 0; times--)
            add_symbol(out, symbol);
    }
}

/* Add a character that may be anywhere in a path. */
static void add_character(struct bs_fuzz_provider *provider, struct bs_gen_text *out) {
    static const struct symbol characters[16] = {
        TEXT("a"), TEXT("b"), TEXT("c"),      TEXT("x"),      TEXT("a"),          TEXT("b"),
        TEXT("."), TEXT("-"), TEXT("\u00e9"), TEXT("\u6f22"), TEXT("\U0001f600"), TEXT("*"),
        TEXT("?"), TEXT("["), TEXT("\n"),     TEXT("!"),
    };
    const struct symbol *symbol = &characters[bs_fuzz_byte(provider) % 16];
    add_symbol(out, symbol);
}

static void add_characters(struct bs_fuzz_provider *provider, struct bs_gen_text *out) {
    for (uint32_t n = bs_fuzz_below(provider, 4); n > 0; n--)
        add_character(provider, out);
}

/* Add whole segments. Each has a slash before it if `front` is true, otherwise after it. */
static void add_segments(struct bs_fuzz_provider *provider, struct bs_gen_text *out, bool front) {
    for (uint32_t n = bs_fuzz_below(provider, 3); n > 0; n--) {
        if (front)
            add_byte(out, '/');
        add_character(provider, out);
        add_characters(provider, out);
        if (!front)
            add_byte(out, '/');
    }
}

static size_t stars_at(const char *glob, size_t len, size_t at) {
    size_t n = 0;
    while (at + n < len && glob[at + n] == '*')
        n++;
    return n;
}

static void fill_in(struct bs_fuzz_provider *provider, const char *glob, size_t len,
                    struct bs_gen_text *out) {
    for (size_t at = 0; at < len;) {
        if (glob[at] != '/' && glob[at] != '*' && glob[at] != '?') {
            add_byte(out, glob[at++]);
            continue;
        }
        bool starts = at == 0 || glob[at - 1] == '/';
        size_t stars = stars_at(glob, len, at);
        if (glob[at] == '/' && at + 1 < len && at + 1 + stars_at(glob, len, at + 1) == len &&
            len - at > 2) {
            add_segments(provider, out, true);
            return;
        }
        if (stars >= 2 && starts && at + stars < len && glob[at + stars] == '/') {
            add_segments(provider, out, false);
            at += stars + 1;
        } else if (stars >= 2) {
            add_characters(provider, out);
            add_segments(provider, out, true);
            at += stars;
        } else if (stars == 1) {
            /* A `*` that is a whole segment must match at least one character. If it matched
             * nothing, the segment would disappear from the path. */
            if (starts && (at + 1 == len || glob[at + 1] == '/'))
                add_character(provider, out);
            add_characters(provider, out);
            at++;
        } else if (glob[at] == '?') {
            add_character(provider, out);
            at++;
        } else {
            add_byte(out, glob[at]);
            at++;
        }
    }
}

static bool continues(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* Change text only at character boundaries, because otherwise the path is refused as invalid
 * UTF-8. */
static void change(struct bs_fuzz_provider *provider, uint8_t how, struct bs_gen_text *out) {
    if (how % 4 == 0 || out->len == 0)
        return;
    size_t from = bs_fuzz_byte(provider) % out->len;
    while (from > 0 && continues(out->data[from]))
        from--;
    size_t to = from;
    if (how % 4 != 1) {
        to++;
        while (to < out->len && continues(out->data[to]))
            to++;
    }
    struct bs_gen_text tail;
    tail.len = out->len - to;
    memcpy(tail.data, out->data + to, tail.len);
    out->len = from;
    if (how % 4 != 2) {
        if (how & 4)
            add_byte(out, '/');
        else
            add_character(provider, out);
    }
    add(out, tail.data, tail.len);
}

void bs_gen_path_of(struct bs_fuzz_provider *provider, const char *glob, size_t len,
                    struct bs_gen_text *out) {
    out->len = 0;
    uint8_t how = bs_fuzz_byte(provider);
    fill_in(provider, glob, len, out);
    change(provider, how, out);
    if (out->len == 0)
        add_byte(out, '.');
}

void bs_gen_globs(const uint8_t *data, size_t size, struct bs_gen_globs *out) {
    struct bs_fuzz_provider provider = {data, size};
    bs_gen_symbols(&provider, &out->glob);
    out->n_paths = 0;
    do {
        struct bs_gen_text *path = &out->paths[out->n_paths++];
        if (bs_fuzz_flag(&provider))
            bs_gen_symbols(&provider, path);
        else
            bs_gen_path_of(&provider, out->glob.data, out->glob.len, path);
    } while (provider.left > 0 && out->n_paths < BS_GEN_MOST_PATHS);
}
