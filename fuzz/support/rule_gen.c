#include "support/policy_gen.h"

#include <stdio.h>
#include <string.h>

#include "support/glob_gen.h"

#define LONG "a-name-that-does-not-fit-into-the-sixty-four-bytes-that-are-looked-at-at-once"
#define LONG_BEGUN "a-name-that-does-not-fit-into-the-sixty-four-bytes-that-are-looked-at-at-once?"
#define ACCENTS "\xCC\x81\xCC\x88\xCC\x84\xCC\x87\xCC\x8C\xCC\x80"
#define OTHER_MARKS "\xCC\xA3\xCC\xA7\xCC\xB1\xCC\x95"
#define FOUR(text) text text text text
#define LONG_HELD "*a-name-that-does-not-fit-into-the-sixty-four-bytes-that-are-looked-at-at-once*"

/* Segments of paths. A used-up input selects the first segment. A rule cannot begin with one of the
 * last segments. */
static const char *const segments[] = {
    "a",
    "b",
    "ab",
    "src",
    ".env",
    "c",
    "**",
    "*",
    "**",
    "!a",
    "?",
    "a*",
    "*b",
    "*.c",
    "?b",
    "a?b",
    "*b*",
    "a**",
    "**b",
    "q\"",
    "***",
    "a**b",
    "b*c",
    "A",
    "[a]",
    "{a}",
    "\xC3\xA9",
    "x y",
    "..a",
    "...",
    "\xEA\xB0\x81",
    "a+b",
    "\")(allow)(\"",
    LONG,
    LONG_BEGUN,
    LONG_HELD,
    "~/**",
    "~",
    "a:",
};

/* Names that reach other code of case folding. They belong to byte values that the engines do not
 * insert by preference. */
static const char *const rarities[] = {
    " x",
    "x ",
    "*" LONG,
    "*b?",
    "\xCE\xB1\xCC\x81\xCD\x85", /* a letter, an accent, and a mark that folds to a letter */
    "q\xCC\xA3\xCC\x87",        /* marks without a composed form */
    "\xE0\xA5\x98\xE0\xA4\xBC", /* never composed to one character */
    "\xEA\xB0\x80\xE1\x86\xA8", /* a Hangul syllable and a vowel or consonant that may join it */
    "\xC8\xBA\xE1\xB8\x9E",     /* longer after folding; a letter with a mark */
    "\xE0\xA7\x87\xE0\xA6\xBE", /* signs of combining class 0 that compose */
    "a" ACCENTS ACCENTS ACCENTS ACCENTS, /* an implausible number of marks */
    "o" ACCENTS OTHER_MARKS,             /* marks in any order, except within one class */
};

/* Strings that are longer than the limit, by themselves or with the suffix of an exception, and
 * strings that are longer than the buffer of folding. They are drawn rarely, because they are
 * expensive. */
static const char *const long_names[] = {
    FOUR(FOUR(LONG)),
    FOUR(FOUR("a-name-of-as-many-bytes-as-fit-into-a-string-and-not-one-more")) "four",
    FOUR(FOUR(FOUR(FOUR(FOUR("\xC3\xA9\xC3\xA9"))))) "\xC3\xA9",
};

enum { SEGMENTS = sizeof segments / sizeof *segments, BEGINNINGS = SEGMENTS - 3, MOST_MORE = 5 };
enum { RARE = 0xA8, RARITIES = sizeof rarities / sizeof *rarities };
enum { LONG_NAMED = 0xB8, LONG_NAMES = sizeof long_names / sizeof *long_names };

/* LENGTHENS is the byte that selects a path of LENGTH more bytes, which are whole segments. */
enum { LENGTHENS = 0xFF, LENGTH = 4101 };

static struct bs_fuzz_text text_of(const char *text) {
    return (struct bs_fuzz_text){text, strlen(text)};
}

static struct bs_fuzz_text joined(struct bs_gen_policies *gen, struct bs_fuzz_text front,
                                  const char *between, struct bs_fuzz_text back) {
    size_t len = front.len + strlen(between) + back.len;
    char *text = bs_fuzz_take(gen->pool, len + 1);
    (void)snprintf(text, len + 1, "%.*s%s%.*s", (int)front.len, front.text, between, (int)back.len,
                   back.text);
    return (struct bs_fuzz_text){text, len};
}

static struct bs_fuzz_text one_of(struct bs_gen_policies *gen, uint32_t n) {
    uint8_t drawn = bs_fuzz_byte(gen->from);
    if (drawn >= RARE && drawn < RARE + RARITIES)
        return text_of(rarities[drawn - RARE]);
    if (gen->long_named && drawn >= LONG_NAMED && drawn < LONG_NAMED + LONG_NAMES)
        return text_of(long_names[drawn - LONG_NAMED]);
    return text_of(segments[drawn % n]);
}

static struct bs_fuzz_text segment(struct bs_gen_policies *gen) { return one_of(gen, SEGMENTS); }

static struct bs_fuzz_text fresh(struct bs_gen_policies *gen) {
    uint32_t beginnings = gen->flawed ? SEGMENTS : BEGINNINGS;
    struct bs_fuzz_text rule = one_of(gen, beginnings);
    for (uint32_t more = bs_fuzz_below(gen->from, MOST_MORE); more > 0; more--)
        rule = joined(gen, rule, "/", segment(gen));
    return rule;
}

static struct bs_fuzz_text above(struct bs_fuzz_text rule) {
    size_t len = rule.len;
    while (len > 0 && rule.text[len - 1] != '/')
        len--;
    return len > 1 ? (struct bs_fuzz_text){rule.text, len - 1} : rule;
}

const char *bs_gen_shielded(struct bs_fuzz_text body, const char *front) {
    bool shielded = strchr(front, '.') != NULL;
    return body.len > 0 && body.text[0] == '!' && !shielded ? "./" : front;
}

bool bs_gen_is_subtree(struct bs_fuzz_text rule) {
    return rule.len > 3 && memcmp(rule.text + rule.len - 3, "/**", 3) == 0;
}

static struct bs_fuzz_text derived(struct bs_gen_policies *gen, struct bs_fuzz_text rule) {
    struct bs_fuzz_text top = bs_gen_is_subtree(rule) ? above(rule) : rule;
    switch (bs_fuzz_below(gen->from, 8)) {
    case 0:
        return rule;
    case 1:
        return joined(gen, top, "/", text_of("**"));
    case 2:
        return joined(gen, top, "/", segment(gen));
    case 3:
        return joined(gen, joined(gen, top, "/", segment(gen)), "/", text_of("**"));
    case 4:
        return joined(gen, above(top), "/", text_of("**"));
    case 5:
        return top;
    case 6:
        return joined(gen, text_of("**"), "/", rule);
    default:
        return joined(gen, top, "", segment(gen));
    }
}

struct bs_fuzz_text bs_gen_rule_body(struct bs_gen_policies *gen) {
    struct bs_fuzz_text body;
    if (gen->n_rules == 0 || bs_fuzz_flag(gen->from))
        body = fresh(gen);
    else
        body = derived(gen, gen->rules[bs_fuzz_below(gen->from, (uint32_t)gen->n_rules)]);
    if (gen->n_rules < BS_GEN_MOST_RULES)
        gen->rules[gen->n_rules++] = body;
    return body;
}

void bs_gen_policies_begin(struct bs_gen_policies *gen, struct bs_fuzz_provider *from,
                           struct bs_fuzz_pool *pool) {
    *gen = (struct bs_gen_policies){.from = from, .pool = pool};
    uint32_t kind = bs_fuzz_below(from, 32);
    gen->flawed = kind % 8 == 7;
    gen->crowded = kind == 30;
    gen->long_named = kind == 29;
}

/* Return the length of the text without its last character if that character is incomplete. */
static size_t whole(const char *text, size_t len) {
    size_t last = len;
    while (last > 0 && ((unsigned char)text[last - 1] & 0xC0) == 0x80)
        last--;
    unsigned char lead = last > 0 ? (unsigned char)text[last - 1] : 0;
    size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    return last > 0 && last - 1 + size > len ? last - 1 : len;
}

struct bs_fuzz_text bs_gen_instance(struct bs_gen_policies *gen, struct bs_fuzz_text rule) {
    struct bs_gen_text text;
    bs_gen_path_of(gen->from, rule.text, rule.len, &text);
    text.len = whole(text.data, text.len);
    return (struct bs_fuzz_text){bs_fuzz_keep(gen->pool, text.data, text.len), text.len};
}

static struct bs_fuzz_text instance(struct bs_gen_policies *gen) {
    uint32_t number = bs_fuzz_below(gen->from, (uint32_t)gen->n_rules);
    return bs_gen_instance(gen, gen->rules[number]);
}

/* Return the given path with deep directories below it. The result is longer than
 * BS_CHECK_PATH_BYTES, so a check must allocate memory for it. */
static struct bs_fuzz_text lengthened(struct bs_gen_policies *gen, struct bs_fuzz_text path) {
    char *text = bs_fuzz_take(gen->pool, path.len + LENGTH + 1);
    memcpy(text, path.text, path.len);
    for (size_t i = 0; i < LENGTH; i++)
        text[path.len + i] = "/ab"[i % 3];
    return (struct bs_fuzz_text){text, path.len + LENGTH};
}

struct bs_fuzz_text bs_gen_path(struct bs_gen_policies *gen) {
    if (gen->n_rules > 0 && !bs_fuzz_flag(gen->from))
        return instance(gen);
    uint8_t kind = bs_fuzz_byte(gen->from);
    switch (kind == LENGTHENS ? 8 : kind % 8) {
    case 8:
        return lengthened(gen, gen->n_rules > 0 ? instance(gen) : fresh(gen));
    case 0:
        return text_of(".");
    case 1:
        return bs_gen_respelled(gen, fresh(gen));
    case 2:
        return gen->n_rules > 0 ? bs_gen_respelled(gen, instance(gen)) : fresh(gen);
    default:
        return fresh(gen);
    }
}

struct bs_fuzz_text bs_gen_respelled(struct bs_gen_policies *gen, struct bs_fuzz_text path) {
    static const char *const doubled[] = {"/", "//", "/./", "/.//", "///"};
    struct bs_fuzz_text spelled = bs_fuzz_flag(gen->from) ? text_of("./") : text_of("");
    const char *at = path.text;
    const char *end = path.text + path.len;
    while (at < end) {
        const char *separator = memchr(at, '/', (size_t)(end - at));
        const char *stop = separator != NULL ? separator : end;
        struct bs_fuzz_text part = {at, (size_t)(stop - at)};
        spelled = joined(gen, spelled, "", part);
        if (separator != NULL)
            spelled = joined(gen, spelled, "", text_of(doubled[bs_fuzz_below(gen->from, 5)]));
        at = separator != NULL ? stop + 1 : end;
    }
    static const char *const tails[] = {"", "/", "/.", "//", "/./"};
    return joined(gen, spelled, "", text_of(tails[bs_fuzz_below(gen->from, 5)]));
}
