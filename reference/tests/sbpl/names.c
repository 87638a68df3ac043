#define _GNU_SOURCE
#include "sbpl/compiling.h"

static const char none[] = "'fsProfiles':{'p':{}}";

static void superfluous_slashes_are_removed(void **state) {
    (void)state;
    assert_rules(PROFILE("'**'", "'a'"), 0, AT("//w///x//"),
                 "(allow file-write* (literal \"/w/x/a\"))\n");
    assert_rules(PROFILE("'**'", "'a'"), 0, AT("///"), "(allow file-write* (literal \"/a\"))\n");
    struct bs_sbpl_input input = {.root = "/w", .codex_home = "/c//d/", .home = "/h/"};
    assert_has_lines(none, input, "(subpath \"/h/.orbit\"))\n(allow file-write* (subpath \"/c/d\"");
}

/* Check that a path is refused as the value of each field. */
static void assert_refused_everywhere(const char *path, const char *words) {
    static const struct bs_sbpl_input good = {.root = "/w", .n_side_roots = 0};
    char expected[256];
    for (int i = 0; i < 5; i++) {
        static const char *const fields[] = {"root", "env.HOME", "env.CODEX_HOME",
                                             "env.CLAUDE_CONFIG_DIR", "side_roots[1]"};
        const char *side_roots[] = {"/s", path};
        struct bs_sbpl_input input = good;
        const char **const places[] = {&input.root, &input.home, &input.codex_home,
                                       &input.claude_config_dir};
        if (i < 4)
            *places[i] = path;
        input.side_roots = side_roots;
        input.n_side_roots = i < 4 ? 1 : 2;
        (void)snprintf(expected, sizeof expected, "%s: `%s", fields[i], words);
        assert_refused(none, 0, input, expected);
    }
}

static void a_path_that_is_not_canonical_is_refused_with_its_field(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"w/x", "w/x` is not absolute"},
        {"~/x", "~/x` begins with `~`"},
        {"~", "~` begins with `~`"},
        {"/a/./b", "/a/./b` has a `.` or `..` segment"},
        {"/a/..", "/a/..` has a `.`"},
        {"/a\nb", "/a\\x0ab` holds a control character"},
        {"/a\x7f", "/a\\x7f` holds a control"},
        {"/a\x01", "/a\\x01` holds a control"},
        {"/a\xff", "/a\xff` is not UTF-8"},
        {"/tmp", "/tmp` lies below the link /tmp"},
        {"//var//x/", "/var/x` lies below the link /var"},
        {"/etc/x", "/etc/x` lies below the link /etc, which the kernel does not report; give "
                   "`/private/etc/x`"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_refused_everywhere(rows[i][0], rows[i][1]);
    assert_refused(none, 0, AT(""), "root: `` is not absolute");
}

static void names_that_only_begin_like_these_are_accepted(void **state) {
    (void)state;
    static const char *const roots[] = {"/tmpfile", "/variable/x", "/etc2",   "/private/tmp",
                                        "/a/tmp",   "/...",        "/a/.b",   "/a/..b",
                                        "/a~",      "/a/~",        "/\u00e9", "/a b"};
    for (size_t i = 0; i < LENGTH(roots); i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "(deny file-write* (subpath \"%s\"))\n", roots[i]);
        assert_has_lines(none, AT(roots[i]), line);
    }
}

static void control_characters_in_rules_are_refused(void **state) {
    (void)state;
    assert_refused(PROFILE("'**'", "'a','b\\u000a(allow default)'"), 0, AT("/w"),
                   "modify[1]: `b\\x0a(allow default)` holds a control");
    assert_refused(PROFILE("'**','!a\\u007f'", ""), 0, AT("/w"), "read[1]: `a\\x7f` holds");
    /* Control characters are refused even in a rule that would get no clause. */
    assert_refused(PROFILE("'a\\u0001'", ""), 0, AT("/w"), "read[0]: ");
    assert_refused("'fsProfiles':{'p':{}},'denyRead':['a','b\\u0009/x']", 0, AT("/w"),
                   "denyRead[1]: ");
    assert_refused("'fsProfiles':{'p':{}},'denyModify':['a/**','!a/\\u001f']", BS_FOLD, AT("/w"),
                   "denyModify[1]: ");
}

/* Return a path of `n` bytes: a slash and letters. */
static char *path_of(size_t n) {
    char *path = malloc(n + 1);
    assert_non_null(path);
    memset(path, 'a', n);
    path[0] = '/';
    path[n] = '\0';
    return path;
}

static void a_string_has_at_most_a_thousand_bytes(void **state) {
    (void)state;
    for (size_t n = 999; n <= 1001; n++) {
        char *root = path_of(n);
        struct compiled compiled = compile(none, 0, AT(root));
        assert_int_equal(compiled.code, n <= 1000 ? BS_OK : BS_E_INVALID);
        discard(&compiled);
        /* The limit also counts the text that is appended to the root, and the escapes of
         * characters. */
        compiled = compile(PROFILE("'**'", "'b'"), 0, AT(root));
        assert_int_equal(compiled.code, BS_E_INVALID);
        discard(&compiled);
        root[1] = '"';
        compiled = compile(none, 0, AT(root));
        assert_int_equal(compiled.code, n <= 999 ? BS_OK : BS_E_INVALID);
        discard(&compiled);
        free(root);
    }
    char *path = path_of(1000);
    struct bs_sbpl_input input = {.root = "/w", .home = path};
    assert_refused(none, 0, input, "env.HOME: `/aaa");
    assert_refused(none, 0, input, "more than 1000 bytes");
    const char *side_root = path;
    input = (struct bs_sbpl_input){
        .root = "/w", .side_roots = &side_root, .n_side_roots = 1, .provider = BS_PROVIDER_CODEX};
    assert_has_lines(none, input, path);
    free(path);
}

static void a_rule_is_written_completely_or_refused(void **state) {
    (void)state;
    char spec[4096];
    static const char *const shapes[] = {"%s", "%s/**", "%s/*", "!%s"};
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        char *name = path_of(1000);
        char rule[1200];
        (void)snprintf(rule, sizeof rule, shapes[i], name + 1);
        (void)snprintf(spec, sizeof spec, PROFILE("'**'", "'a','%s'"), rule);
        assert_refused(spec, 0, AT("/w"), "modify[1]: `");
        assert_refused(spec, BS_FOLD, AT("/w"), "modify[1]: `");
        free(name);
    }
    /* The path of an ancestor would be short enough, but the message must name the rule. */
    char *name = path_of(1000);
    (void)snprintf(spec, sizeof spec, "'fsProfiles':{'p':{}},'denyRead':['k/%s']", name + 1);
    assert_refused(spec, 0, AT("/w"), "denyRead[0]: `k/aaa");
    free(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(superfluous_slashes_are_removed),
        cmocka_unit_test(a_path_that_is_not_canonical_is_refused_with_its_field),
        cmocka_unit_test(names_that_only_begin_like_these_are_accepted),
        cmocka_unit_test(control_characters_in_rules_are_refused),
        cmocka_unit_test(a_string_has_at_most_a_thousand_bytes),
        cmocka_unit_test(a_rule_is_written_completely_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
