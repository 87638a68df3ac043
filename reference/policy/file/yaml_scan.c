#include "policy/file/yaml.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/utf8.h"
#include "base/word.h"

/* Return the reason why a file may not have the character at `text`, which is valid UTF-8, or
 * NULL. */
static const char *forbidden(const unsigned char *text) {
    static const char control[] = "a control character; write it as an escape";
    static const char line_break[] =
        "some YAML readers take U+0085, U+2028 and U+2029 for line breaks; write it as an escape";
    if (text[0] == '\0')
        return "a NUL";
    if (text[0] < 0x20)
        return text[0] == '\t' || text[0] == '\n' || text[0] == '\r' ? NULL : control;
    if (text[0] == 0x7F)
        return control;
    if (text[0] == 0xC2 && text[1] < 0xA0)
        return text[1] == 0x85 ? line_break : control;
    if (text[0] == 0xE2 && text[1] == 0x80 && (text[2] == 0xA8 || text[2] == 0xA9))
        return line_break;
    if (text[0] == 0xEF && text[1] == 0xBF && text[2] >= 0xBE)
        return "a code point that is not a character; write it as an escape";
    return NULL;
}

/* Mark the bytes of a block that must be examined one by one: bytes that are not ASCII, and control
 * characters. The line feed is no such byte, because it is frequent and allowed. */
#ifdef __SSE2__
enum { BLOCK = 16, BITS_A_BYTE = 1 };

static uint64_t claimed(const char *text) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    /* the comparison is signed, so it includes bytes from 0x80 on */
    __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    low = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')), low);
    low = _mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F)));
    return (uint64_t)(unsigned)_mm_movemask_epi8(low);
}
#else
enum { BLOCK = BS_WORD_BYTES, BITS_A_BYTE = 8 };

/* The same without SSE2. A borrow or carry may mark more bytes than necessary, which costs only
 * time. Line feeds are replaced by larger bytes first, because their borrow would mark the
 * indentation after them. */
static uint64_t claimed(const char *text) {
    uint64_t word = bs_word_at(text);
    word |= bs_word_equal(word, '\n') >> 2;
    uint64_t odd = (word - BS_EACH_BYTE(0x20U)) | (word + BS_EACH_BYTE(1U)) | word;
    return odd & BS_EACH_BYTE(0x80U);
}
#endif

/* Examine one byte. Returns false if the text is refused because of it. */
static bool check_byte(const char *text, size_t at, struct bs_yaml_scan *scan) {
    unsigned char c = (unsigned char)text[at];
    scan->is_ascii = scan->is_ascii && c < 0x80;
    scan->problem = c >= 0x20 && c < 0x7F ? NULL : forbidden((const unsigned char *)text + at);
    scan->at = at;
    return scan->problem == NULL;
}

struct bs_yaml_scan bs_yaml_scan(const char *text, size_t len) {
    struct bs_yaml_scan scan = {.is_ascii = true};
    size_t valid = bs_utf8_valid_prefix(text, len);
    if (valid < len) {
        scan.at = valid;
        scan.problem = "this is not UTF-8";
        return scan;
    }
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        scan.problem = "a byte order mark; remove it";
        return scan;
    }
    size_t at = 0;
    for (; len - at >= BLOCK; at += BLOCK) {
        for (uint64_t bits = claimed(text + at); bits != 0; bits &= bits - 1) {
            if (!check_byte(text, at + (size_t)__builtin_ctzll(bits) / BITS_A_BYTE, &scan))
                return scan;
        }
    }
    for (; at < len; at++) {
        if (!check_byte(text, at, &scan))
            return scan;
    }
    return scan;
}
