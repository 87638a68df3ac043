/* Compares the normal form of every short path with its definition in boxspec/path.h. */
#include <boxspec/path.h>

#include <stdlib.h>
#include <string.h>

#include "policy/path/path.h"

#include "support/harness.h"

/* The last two bytes are one character in UTF-8, and invalid in any other order. */
static const char letters[] = "a./~ :\\\xC3\xA9";
enum { LETTERS = sizeof letters - 1, LONGEST = SLOW_BUILD ? 4 : 6, LONGEST_AFTER = 4, ROOM = 96 };

static bool is_utf8(const char *text, size_t len) {
    bool inside = false;
    for (size_t i = 0; i < len; i++) {
        bool first = text[i] == '\xC3';
        bool second = text[i] == '\xA9';
        if (inside != second)
            return false;
        inside = first;
    }
    return !inside;
}

static bool ends_are_refused(const char *text, size_t len) {
    bool is_drive = len >= 2 && text[1] == ':' && text[0] != ':' && strchr("aq", text[0]) != NULL;
    bool is_home = text[0] == '~' && (len == 1 || text[1] == '/');
    return len == 0 || text[0] == '/' || is_home || is_drive || text[0] == ' ' ||
           text[len - 1] == ' ';
}

/* The definition of the normal form, segment by segment. Returns false if the path is refused. */
static bool defined_normal(const char *text, size_t len, char *normal, size_t *normal_len) {
    if (ends_are_refused(text, len) || memchr(text, '\\', len) != NULL || !is_utf8(text, len))
        return false;
    size_t used = 0;
    for (size_t start = 0; start <= len;) {
        const char *slash = memchr(text + start, '/', len - start);
        size_t size = (slash != NULL ? (size_t)(slash - text) : len) - start;
        const char *segment = text + start;
        start += size + 1;
        if (size == 2 && memcmp(segment, "..", 2) == 0)
            return false;
        if (size == 0 || (size == 1 && segment[0] == '.'))
            continue;
        if (used > 0)
            normal[used++] = '/';
        memcpy(normal + used, segment, size);
        used += size;
    }
    if (used == 0)
        normal[used++] = '.';
    *normal_len = used;
    return !ends_are_refused(normal, used);
}

static void expect_definition(const char *text, size_t len) {
    char expected[ROOM];
    char buffer[ROOM + 1];
    size_t expected_len = 0;
    size_t actual_len = 0;
    const char *actual = NULL;
    struct bs_error err = BS_ERROR_INIT;
    bool allowed = defined_normal(text, len, expected, &expected_len);
    int code = bs_path_normalize(text, len, buffer, &actual, &actual_len, &err);
    if ((code == BS_OK) != allowed)
        fail_msg("`%.*s`: expected %s", (int)len, text, allowed ? "a normal form" : "a refusal");
    if (allowed && (actual_len != expected_len || memcmp(actual, expected, actual_len) != 0))
        fail_msg("`%.*s`: expected `%.*s`, got `%.*s`", (int)len, text, (int)expected_len, expected,
                 (int)actual_len, actual);
    bool is_normal = allowed && expected_len == len && memcmp(expected, text, len) == 0;
    bool portable = bs_path_is_plain_portable(text, len);
    if (portable && !is_normal)
        fail_msg("`%.*s`: the portable scan takes it for a normal form", (int)len, text);
    if (bs_path_is_plain(text, len) && !portable)
        fail_msg("`%.*s`: only the fast scan takes it for a normal form", (int)len, text);
}

/* Check every text of up to `longest` letters, with the letter q `before` times in front of it. */
static void expect_all(size_t before, size_t longest) {
    char text[ROOM];
    memset(text, 'q', before);
    for (size_t len = 0; len <= longest; len++) {
        size_t count = 1;
        for (size_t i = 0; i < len; i++)
            count *= LETTERS;
        for (size_t number = 0; number < count; number++) {
            size_t rest = number;
            for (size_t i = 0; i < len; i++, rest /= LETTERS)
                text[before + i] = letters[rest % LETTERS];
            expect_definition(text, before + len);
        }
    }
}

static void every_short_path_has_the_defined_normal_form(void **state) {
    (void)state;
    expect_all(0, LONGEST);
}

/* These lengths are the edges of what the fast scan reads: parts of 16 bytes and blocks of 64. */
static void every_short_end_at_the_edge_of_a_block_does_too(void **state) {
    (void)state;
    static const size_t edges[] = {12, 14, 15, 16, 46, 61, 62, 63, 64, 78};
    for (size_t i = 0; i < LENGTH(edges); i++)
        expect_all(edges[i], LONGEST_AFTER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_path_has_the_defined_normal_form),
        cmocka_unit_test(every_short_end_at_the_edge_of_a_block_does_too),
    };
    return cmocka_run_group_tests_name("policy/exhaustive_paths", tests, NULL, NULL);
}
