#include "policy/path/rule.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <boxspec/error.h>

#include "base/utf8.h"
#include "base/word.h"

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void trim(char *text, size_t *len) {
    size_t start = 0;
    while (start < *len && is_blank(text[start]))
        start++;
    while (*len > start && is_blank(text[*len - 1]))
        (*len)--;
    *len -= start;
    if (start > 0)
        memmove(text, text + start, *len);
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Return the reason why a rule is not relative, or NULL. The check is made before and after
 * segments are dropped, because dropping must not turn `./~` into `~`, which shells expand. */
static const char *foreign(const char *text, size_t len) {
    if (text[0] == '/')
        return "a rule is relative to the workspace; it cannot begin with a separator";
    if (text[0] == '~' && (len == 1 || text[1] == '/'))
        return "a rule is relative to the workspace; `~` is not expanded";
    if (len >= 2 && is_letter(text[0]) && text[1] == ':')
        return "a rule is relative to the workspace; it cannot begin with a drive";
    return NULL;
}

/* Move one segment to `to`, and replace three or more stars in a row by two. */
static size_t move_segment(char *text, size_t to, size_t from, size_t end) {
    size_t stars = 0;
    for (size_t i = from; i < end; i++) {
        stars = text[i] == '*' ? stars + 1 : 0;
        if (stars <= 2)
            text[to++] = text[i];
    }
    return to;
}

/* Drop segments and return the new length. Returns 0 with *problem set if a segment is `..`. */
static size_t drop_segments(char *text, size_t len, const char **problem) {
    size_t to = 0;
    for (size_t from = 0; from < len;) {
        size_t end = from;
        bool stars = false;
        /* memchr is not used, because segments are short and two calls for each took most of the
         * time. */
        for (; end < len && text[end] != '/'; end++)
            stars |= text[end] == '*';
        size_t size = end - from;
        if (size == 2 && text[from] == '.' && text[from + 1] == '.') {
            *problem = "a rule cannot have a `..` segment";
            return 0;
        }
        if (size > 0 && !(size == 1 && text[from] == '.')) {
            if (to > 0)
                text[to++] = '/';
            to = to == from && !stars ? end : move_segment(text, to, from, end);
        }
        from = end + 1;
    }
    if (to == 0)
        text[to++] = '.';
    return to;
}

enum { MOST_AT_A_GLANCE = 60 };

/* Masks of the bytes that have a meaning: bit i belongs to byte i of a rule. */
struct glance {
    uint64_t separators;
    uint64_t dots;
    uint64_t stars;
    uint64_t forbidden; /* not zero if there is a backslash or a NUL */
    uint64_t not_ascii; /* not zero if a byte is not ASCII */
};

#ifdef __SSE2__
enum { GLANCE_BYTES = 16 };

static uint64_t equal(__m128i bytes, char byte) {
    return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
}

static void scan_block(struct glance *glance, const char *text, size_t at) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    glance->separators |= equal(bytes, '/') << at;
    glance->dots |= equal(bytes, '.') << at;
    glance->stars |= equal(bytes, '*') << at;
    glance->forbidden |= equal(bytes, '\\') | equal(bytes, '\0');
    glance->not_ascii |= (uint64_t)(unsigned)_mm_movemask_epi8(bytes);
}
#else
enum { GLANCE_BYTES = BS_WORD_BYTES };

static void scan_block(struct glance *glance, const char *text, size_t at) {
    uint64_t word = bs_word_at(text);
    glance->separators |= bs_word_bits(bs_word_equal(word, '/')) << at;
    glance->dots |= bs_word_bits(bs_word_equal(word, '.')) << at;
    glance->stars |= bs_word_bits(bs_word_equal(word, '*')) << at;
    glance->forbidden |= bs_word_equal(word, '\\') | bs_word_equal(word, '\0');
    glance->not_ascii |= word & BS_EACH_BYTE(0x80U);
}
#endif

static struct glance glance_at(const char *text, size_t len) {
    struct glance glance = {0, 0, 0, 0, 0};
    char padded[GLANCE_BYTES];
    if (len < GLANCE_BYTES) {
        memset(padded, 'x', sizeof padded);
        memcpy(padded, text, len);
        text = padded;
        len = sizeof padded;
    }
    size_t at = 0;
    do {
        at = at < len - GLANCE_BYTES ? at : len - GLANCE_BYTES;
        scan_block(&glance, text + at, at);
        at += GLANCE_BYTES;
    } while (at < len);
    return glance;
}

/* True if a rule is certainly in normal form as it is written; false if this is not certain. Most
 * rules are in normal form, and examining each of their segments would take most of the time for a
 * long list. So this function has almost no branch that depends on the rule. */
static bool is_normal(const char *text, size_t len) {
    if (len == 0 || len > MOST_AT_A_GLANCE || text[0] == '~' || is_blank(text[0]) ||
        is_blank(text[len - 1]) || (len > 1 && text[1] == ':'))
        return false;
    struct glance glance = glance_at(text, len);
    uint64_t starts = glance.separators << 1 | 1;           /* starts of segments */
    uint64_t ends = glance.separators | UINT64_C(1) << len; /* ends of segments */
    uint64_t dotted = glance.dots & starts;
    uint64_t doubts = starts & ends;                 /* empty segments */
    doubts |= dotted & ends >> 1;                    /* `.` */
    doubts |= dotted & glance.dots >> 1 & ends >> 2; /* `..` */
    doubts |= glance.stars & glance.stars << 1 & glance.stars << 2;
    if ((doubts | glance.forbidden) != 0)
        return false;
    return glance.not_ascii == 0 || bs_utf8_valid_prefix(text, len) == len;
}

int bs_rule_body_normalize(char *text, size_t *len, const char **problem) {
    /* A leading `./` is frequent and has no meaning. */
    size_t dotted = *len > 2 && text[0] == '.' && text[1] == '/' ? 2 : 0;
    if (is_normal(text + dotted, *len - dotted)) {
        *len -= dotted;
        if (dotted > 0)
            memmove(text, text + dotted, *len);
        return BS_OK;
    }
    trim(text, len);
    if (*len == 0) {
        *problem = "a rule cannot be empty; `.` is the root, `**` is everything";
        return BS_E_INVALID;
    }
    if (memchr(text, '\0', *len) != NULL) {
        *problem = "a rule cannot hold a NUL";
        return BS_E_INVALID;
    }
    if (bs_utf8_valid_prefix(text, *len) < *len) {
        *problem = "a rule must be UTF-8";
        return BS_E_INVALID;
    }
    char *end = text + *len;
    for (char *at = text; (at = memchr(at, '\\', (size_t)(end - at))) != NULL; at++)
        *at = '/';
    *problem = foreign(text, *len);
    if (*problem != NULL)
        return BS_E_INVALID;
    *len = drop_segments(text, *len, problem);
    if (*len > 0)
        *problem = foreign(text, *len);
    return *problem != NULL ? BS_E_INVALID : BS_OK;
}

int bs_rule_parse(char *text, size_t *len, bool *negated, const char **problem) {
    if (*len > 0 && (is_blank(text[0]) || is_blank(text[*len - 1])))
        trim(text, len);
    *negated = *len > 0 && text[0] == '!';
    if (*negated) {
        (*len)--;
        memmove(text, text + 1, *len);
        trim(text, len);
        if (*len == 0) {
            *problem = "`!` needs a rule; write it directly after the `!`";
            return BS_E_INVALID;
        }
        if (text[0] == '!') {
            *problem = "a rule begins with one `!` at most; write `./!x` for the file `!x`";
            return BS_E_INVALID;
        }
    }
    return bs_rule_body_normalize(text, len, problem);
}

bool bs_rule_covers(const char *cover, size_t cover_len, const char *rule, size_t rule_len) {
    if (cover_len == rule_len && memcmp(cover, rule, rule_len) == 0)
        return true;
    if (cover_len == 2 && memcmp(cover, "**", 2) == 0)
        return true;
    size_t top = bs_rule_subtree(cover, cover_len);
    return top > 0 && rule_len >= top && memcmp(cover, rule, top) == 0 &&
           (rule_len == top || rule[top] == '/');
}

bool bs_rule_names_folder(const char *text, size_t text_len, const char *body, size_t len) {
    while (text_len > 0 && is_blank(text[text_len - 1]))
        text_len--;
    if (text_len > 1 && text[text_len - 1] == '.')
        text_len--; /* `d/.` is written as `d/` is */
    bool ends = text_len > 0 && (text[text_len - 1] == '/' || text[text_len - 1] == '\\');
    bool all = len >= 2 && body[len - 2] == '*' && body[len - 1] == '*';
    return ends && !all && !is_blank(body[len - 1]);
}

bool bs_rule_has_wildcards(const char *body, size_t len) {
    return memchr(body, '*', len) != NULL || memchr(body, '?', len) != NULL;
}

void bs_rule_put(struct bs_buf *out, const char *body, size_t len, bool negated) {
    if (negated)
        bs_buf_char(out, '!');
    if (body[0] == '!' || is_blank(body[0]))
        bs_buf_str(out, "./");
    bs_buf_add(out, body, len);
    if (is_blank(body[len - 1]))
        bs_buf_char(out, '/');
}
