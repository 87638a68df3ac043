#include "support/law_gen.h"

#include <string.h>

#include <boxspec/glob.h>

static void add(struct bs_gen_text *out, const char *text) {
    size_t len = strlen(text);
    if (len <= sizeof out->data - out->len) {
        memcpy(out->data + out->len, text, len);
        out->len += len;
    }
}

/* Groups of spellings. CaseFolding.txt (C and S) and NFC make one code point of some groups. They
 * keep the others apart, although a full folding or another language would not. No unit begins with
 * a combining character, so neighbours never compose. */
static const char *const units[32][4] = {
    {"a", "A"},
    {"b", "B"},
    {"k", "K", "\u212a"},
    {"s", "S", "\u017f"},
    {"i", "I"},
    {"\u0131"},
    {"\u0130"},
    {"\u00e9", "\u00c9", "e\u0301", "E\u0301"},
    {"\u00e5", "\u00c5", "\u212b", "a\u030a"},
    {"\u00df", "\u1e9e"},
    {"\ufb01"},
    {"\u03c3", "\u03a3", "\u03c2"},
    {"\u01c6", "\u01c5", "\u01c4"},
    {"\u1e61", "\u1e60", "\u1e9b", "s\u0307"},
    {"\u0390", "\u1fd3"},
    {"\u13a0", "\uab70"},
    {"\U00010428", "\U00010400"},
    {"\u0436", "\u0416"},
    {"\u00b5", "\u03bc", "\u039c"},
    {"\u03c9", "\u03a9", "\u2126"},
    {"\u1e9f"},
    {"e", "E"},
    {"f", "F"},
    {"1"},
    {"-"},
    {"\uff41", "\uff21"},
    {"\u6f22"},
    {"\U0001f600"},
    {"/"},
    {"/"},
    {"z", "Z"},
    {"["},
};

/* Globs are short, because a matcher of long globs needs large tables. Lists are short, because
 * short lists can show every property of a list. */
enum { UNITS = 12, SLASHES = 28, LISTED = 20 };

static const char *spelling(struct bs_fuzz_provider *provider, unsigned unit) {
    const char *text = units[unit][bs_fuzz_byte(provider) % 4];
    return text != NULL ? text : units[unit][0];
}

static bool is_slash(unsigned unit) { return unit == SLASHES || unit == SLASHES + 1; }

/* Write the same units three times, each time in other spellings: to the glob, to `path`, and to
 * `other`, in which one unit may be replaced. A wildcard of the glob stands for one unit, and the
 * unit of a wildcard is never replaced. */
static void gen_fold(struct bs_fuzz_provider *provider, struct bs_law_case *out) {
    uint8_t how = bs_fuzz_byte(provider);
    uint32_t n = 1 + bs_fuzz_below(provider, UNITS);
    uint32_t exchanged = (how & 1) != 0 ? bs_fuzz_below(provider, n) : n;
    out->equal = true;
    out->n_globs = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t drawn = bs_fuzz_byte(provider);
        unsigned unit = drawn % 32;
        unsigned instead = unit;
        if (i == exchanged)
            instead = bs_fuzz_byte(provider) % 32;
        if (is_slash(unit) != is_slash(instead))
            instead = unit;
        out->equal = out->equal && units[unit][0] == units[instead][0];
        bool wild = i != exchanged && !is_slash(unit) && drawn >= 0xE0;
        add(&out->globs[0], wild ? "?" : spelling(provider, unit));
        add(&out->path, spelling(provider, unit));
        add(&out->other, spelling(provider, instead));
    }
}

static void gen_literal(struct bs_fuzz_provider *provider, struct bs_law_case *out) {
    struct bs_gen_text drawn;
    bs_gen_symbols(provider, &drawn);
    out->n_globs = 1;
    for (size_t i = 0; i < drawn.len; i++) {
        if (drawn.data[i] != '*' && drawn.data[i] != '?')
            out->globs[0].data[out->globs[0].len++] = drawn.data[i];
    }
    out->path = out->globs[0];
    bs_gen_path_of(provider, out->path.data, out->path.len, &out->other);
}

static void gen_pair(struct bs_fuzz_provider *provider, struct bs_law_case *out) {
    bs_gen_symbols(provider, &out->globs[0]);
    const struct bs_gen_text *glob = &out->globs[0];
    if (bs_fuzz_flag(provider))
        bs_gen_symbols(provider, &out->path);
    else
        bs_gen_path_of(provider, glob->data, glob->len, &out->path);
    out->n_globs = 1;
}

/* Add segments around a path that the glob may match. */
static void gen_nested(struct bs_fuzz_provider *provider, struct bs_law_case *out) {
    gen_pair(provider, out);
    struct bs_gen_text path = {0, {0}};
    uint32_t n = bs_fuzz_below(provider, 3);
    for (uint32_t i = 0; i < n && out->law == BS_LAW_DEEPER; i++)
        add(&path, i % 2 == 0 ? "x/" : "ab/");
    if (path.len + out->path.len <= sizeof path.data) {
        memcpy(path.data + path.len, out->path.data, out->path.len);
        path.len += out->path.len;
    }
    for (uint32_t i = 0; i < n && out->law == BS_LAW_BELOW; i++)
        add(&path, i % 2 == 0 ? "/x" : "/ab");
    out->path = path;
}

static void gen_list(struct bs_fuzz_provider *provider, struct bs_law_case *out) {
    out->n_globs = 2 + bs_fuzz_below(provider, BS_LAW_MOST_GLOBS - 1);
    uint8_t from = bs_fuzz_byte(provider);
    out->tier = bs_fuzz_below(provider, 3);
    for (size_t i = 0; i < out->n_globs; i++) {
        bs_gen_symbols(provider, &out->globs[i]);
        out->globs[i].len = out->globs[i].len < LISTED ? out->globs[i].len : LISTED;
    }
    const struct bs_gen_text *glob = &out->globs[from % out->n_globs];
    bs_gen_path_of(provider, glob->data, glob->len, &out->path);
}

void bs_gen_law(const uint8_t *data, size_t size, struct bs_law_case *out) {
    struct bs_fuzz_provider provider = {data, size};
    uint8_t drawn = bs_fuzz_byte(&provider);
    out->n_globs = 0;
    out->path.len = 0;
    out->other.len = 0;
    for (size_t i = 0; i < BS_LAW_MOST_GLOBS; i++)
        out->globs[i].len = 0;
    /* The law of lengths takes a thousand times as long as the others, so it is rarely drawn. */
    out->law = drawn == 0xFF ? BS_LAW_LENGTH : (enum bs_law)(drawn % BS_LAW_LENGTH);
    switch (out->law) {
    case BS_LAW_LITERAL:
        gen_literal(&provider, out);
        return;
    case BS_LAW_FOLD:
        gen_fold(&provider, out);
        return;
    case BS_LAW_DEEPER:
    case BS_LAW_BELOW:
        gen_nested(&provider, out);
        return;
    case BS_LAW_TOGETHER:
        gen_list(&provider, out);
        return;
    case BS_LAW_LENGTH:
        out->length = BS_GLOB_MOST_BYTES - 8 + bs_fuzz_below(&provider, 16);
        return;
    case BS_LAW_EVERYTHING:
    case BS_LAWS:
        bs_gen_symbols(&provider, &out->path);
    }
}
