#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#include <boxspec/bytes.h>

#include "support/harness.h"

/* Decide without the table of the library: decode the code point, and check whether it may be
 * encoded in this way. */
static bool is_character(const unsigned char *p, size_t n) {
    static const unsigned char lead_mask[] = {0x80, 0xE0, 0xF0, 0xF8};
    static const unsigned char lead[] = {0x00, 0xC0, 0xE0, 0xF0};
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    if ((p[0] & lead_mask[n - 1]) != lead[n - 1])
        return false;
    uint32_t point = p[0] & (uint32_t)(unsigned char)~lead_mask[n - 1];
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return false;
        point = point << 6 | (p[i] & 0x3FU);
    }
    return point >= smallest[n - 1] && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
}

static size_t oracle_character(const unsigned char *p, size_t len) {
    for (size_t n = 1; n <= 4 && n <= len; n++) {
        if (is_character(p, n))
            return n;
    }
    return 0;
}

/* True if these bytes can be the beginning of a longer character. */
static bool oracle_begins(const unsigned char *p, size_t len) {
    static const unsigned char ends[] = {0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF};
    unsigned char whole[4] = {0};
    if (len > 3)
        return false;
    memcpy(whole, p, len);
    for (size_t i = 0; i < sizeof ends; i++) {
        whole[len] = ends[i];
        if (is_character(whole, len + 1) || oracle_begins(whole, len + 1))
            return true;
    }
    return false;
}

static size_t oracle_valid_prefix(const unsigned char *p, size_t len) {
    size_t at = 0;
    while (at < len) {
        size_t n = oracle_character(p + at, len - at);
        if (n == 0)
            break;
        at += n;
    }
    return at;
}

static size_t oracle_subpart(const unsigned char *p, size_t len) {
    size_t n = len < 3 ? len : 3;
    while (n > 1 && !oracle_begins(p, n))
        n--;
    return n;
}

static size_t oracle_incomplete_tail(const unsigned char *p, size_t len) {
    for (size_t back = len < 3 ? len : 3; back > 0; back--) {
        if (oracle_begins(p + len - back, back))
            return back;
    }
    return 0;
}

static uint32_t next_random(uint32_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* Make random bytes, mostly values at the limits between the cases of a decoder. */
static size_t random_bytes(uint32_t *seed, unsigned char *out, size_t most) {
    static const unsigned char edges[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                          0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
                                          0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF};
    size_t len = next_random(seed) % (most + 1);
    bool ascii_first = next_random(seed) % 4 == 0;
    for (size_t i = 0; i < len; i++) {
        uint32_t r = next_random(seed);
        out[i] = ascii_first && i < len / 2 ? (unsigned char)('a' + r % 26)
                 : r % 8 == 0               ? (unsigned char)(r >> 8)
                                            : edges[(r >> 8) % sizeof edges];
    }
    return len;
}

static void every_code_point_is_one_character(void **state) {
    (void)state;
    for (uint32_t point = 0; point <= 0x10FFFF; point++) {
        char text[4];
        size_t n = 0;
        if (point < 0x80) {
            text[n++] = (char)point;
        } else if (point < 0x800) {
            text[n++] = (char)(0xC0 | point >> 6);
        } else if (point < 0x10000) {
            text[n++] = (char)(0xE0 | point >> 12);
            text[n++] = (char)(0x80 | (point >> 6 & 0x3F));
        } else {
            text[n++] = (char)(0xF0 | point >> 18);
            text[n++] = (char)(0x80 | (point >> 12 & 0x3F));
            text[n++] = (char)(0x80 | (point >> 6 & 0x3F));
        }
        if (point >= 0x80)
            text[n++] = (char)(0x80 | (point & 0x3F));
        bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        if (bs_utf8_valid_prefix(text, n) != (surrogate ? 0 : n))
            fail_msg("U+%04X", (unsigned)point);
    }
}

static void the_valid_prefix_equals_the_oracles(void **state) {
    (void)state;
    uint32_t seed = 20240501;
    for (int round = 0; round < 100000; round++) {
        unsigned char bytes[40];
        size_t len = random_bytes(&seed, bytes, sizeof bytes);
        assert_int_equal(bs_utf8_valid_prefix((const char *)bytes, len),
                         oracle_valid_prefix(bytes, len));
    }
}

static void maximal_subparts_are_those_of_the_standard(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t subpart;
    } rows[] = {
        {"\x80", 1},         {"\xBF\x80", 1},         {"\xC0\x80", 1},     {"\xC1\xBF", 1},
        {"\xC2", 1},         {"\xC2\x41", 1},         {"\xC2\xC2", 1},     {"\xE0", 1},
        {"\xE0\x80\x80", 1}, {"\xE0\x9F\x80", 1},     {"\xE0\xA0", 2},     {"\xE2\x82", 2},
        {"\xE2\x82\x41", 2}, {"\xED\xA0\x80", 1},     {"\xED\x9F", 2},     {"\xEF\xBF", 2},
        {"\xF0", 1},         {"\xF0\x80\x80\x80", 1}, {"\xF0\x8F\x80", 1}, {"\xF0\x90", 2},
        {"\xF0\x9F\x98", 3}, {"\xF0\x9F\x98\x41", 3}, {"\xF4\x8F\xBF", 3}, {"\xF4\x90\x80\x80", 1},
        {"\xF5\x80", 1},     {"\xF8\x88\x80\x80", 1}, {"\xFE", 1},         {"\xFF\xFF", 1},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        size_t len = strlen(rows[i].bytes);
        assert_int_equal(bs_utf8_maximal_subpart(rows[i].bytes, len), rows[i].subpart);
        assert_int_equal(oracle_subpart((const unsigned char *)rows[i].bytes, len),
                         rows[i].subpart);
    }
}

static void an_incomplete_tail_is_found_to_the_byte(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t tail;
    } rows[] = {{"", 0},
                {"abc", 0},
                {"a\xC3", 1},
                {"a\xC3\xA9", 0},
                {"\xE2", 1},
                {"\xE2\x82", 2},
                {"\xE2\x82\xAC", 0},
                {"\xF0\x9F\x98", 3},
                {"a\xF0\x9F", 2},
                {"\xF0\x9F\x98\x80", 0},
                {"\xF0\x9F\x98\x80\xF0", 1},
                {"\xED\xA0", 0},
                {"\xE0\x80", 0},
                {"\xF4\x90", 0},
                {"\xC0", 0},
                {"\xFF", 0},
                {"\x80\x80\x80", 0},
                {"\xE2\xE2", 1}};
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_int_equal(bs_utf8_incomplete_tail(rows[i].bytes, strlen(rows[i].bytes)),
                         rows[i].tail);
    uint32_t seed = 4711;
    for (int round = 0; round < 50000; round++) {
        unsigned char bytes[6];
        size_t len = random_bytes(&seed, bytes, sizeof bytes);
        assert_int_equal(bs_utf8_incomplete_tail((const char *)bytes, len),
                         oracle_incomplete_tail(bytes, len));
    }
}

static struct bs_bytes copy_of(const void *data, size_t len) {
    struct bs_bytes bytes = {malloc(len + 1), len};
    assert_non_null(bytes.data);
    memcpy(bytes.data, data, len);
    bytes.data[len] = '\0';
    return bytes;
}

static void each_subpart_becomes_one_replacement(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        const char *text;
        size_t text_len;
    } rows[] = {
#define ROW(bytes, text) {bytes, sizeof(bytes) - 1, text, sizeof(text) - 1}
        ROW("", ""),
        ROW("plain", "plain"),
        ROW("a\0b", "a\0b"),
        ROW("\xFF", "\uFFFD"),
        ROW("a\xFFz", "a\uFFFDz"),
        ROW("\xE2\x82", "\uFFFD"),
        ROW("\xC0\x80", "\uFFFD\uFFFD"),
        ROW("\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"),
        ROW("\xF0\x9F\x98\xE2\x82\xAC", "\uFFFD\u20AC"),
        ROW("\xE2\x82\xE2\x82\xAC\r\n", "\uFFFD\u20AC\r\n"),
#undef ROW
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct bs_bytes bytes = copy_of(rows[i].bytes, rows[i].len);
        assert_int_equal(bs_bytes_to_text(&bytes), BS_OK);
        assert_int_equal(bytes.len, rows[i].text_len);
        assert_memory_equal(bytes.data, rows[i].text, rows[i].text_len + 1);
        bs_bytes_clear(&bytes);
    }
    struct bs_bytes nothing = BS_BYTES_INIT;
    assert_int_equal(bs_bytes_to_text(&nothing), BS_OK);
    assert_null(nothing.data);
}

static void text_of_random_bytes_equals_the_oracles(void **state) {
    (void)state;
    uint32_t seed = 99;
    for (int round = 0; round < 20000; round++) {
        unsigned char in[24];
        unsigned char out[sizeof in * 3];
        size_t len = random_bytes(&seed, in, sizeof in);
        size_t n = 0;
        for (size_t at = 0; at < len;) {
            size_t size = oracle_character(in + at, len - at);
            memcpy(out + n, size > 0 ? in + at : (const unsigned char *)"\uFFFD",
                   size > 0 ? size : 3);
            n += size > 0 ? size : 3;
            at += size > 0 ? size : oracle_subpart(in + at, len - at);
        }
        struct bs_bytes bytes = copy_of(in, len);
        assert_int_equal(bs_bytes_to_text(&bytes), BS_OK);
        assert_int_equal(bytes.len, n);
        assert_memory_equal(bytes.data, out, n);
        bs_bytes_clear(&bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_is_one_character),
        cmocka_unit_test(the_valid_prefix_equals_the_oracles),
        cmocka_unit_test(maximal_subparts_are_those_of_the_standard),
        cmocka_unit_test(an_incomplete_tail_is_found_to_the_byte),
        cmocka_unit_test(each_subpart_becomes_one_replacement),
        cmocka_unit_test(text_of_random_bytes_equals_the_oracles),
    };
    return cmocka_run_group_tests_name("base/utf8", tests, NULL, NULL);
}
