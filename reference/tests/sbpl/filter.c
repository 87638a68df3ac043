#include "sbpl/compiling.h"

/* Check the filter of one rule. The rule is a modify rule of the profile. */
static void assert_filter(const char *root, const char *rule, unsigned flags,
                          const char *expected) {
    char spec[512];
    char line[1024];
    (void)snprintf(spec, sizeof spec, PROFILE("'**'", "'%s'"), rule);
    (void)snprintf(line, sizeof line, "(%s file-write* %s)\n", rule[0] == '!' ? "deny" : "allow",
                   expected);
    assert_rules(spec, flags, AT(root), line);
}

struct row {
    const char *rule;
    const char *filter;
};

static void each_rule_has_its_filter(void **state) {
    (void)state;
    static const struct row rows[] = {
        {".", "(literal \"/w\")"},
        {"**", "(subpath \"/w\")"},
        {"**/**", "(subpath \"/w\")"},
        {"a/b", "(literal \"/w/a/b\")"},
        {"./!a", "(literal \"/w/!a\")"},
        {"./ a /", "(literal \"/w/ a \")"},
        {"a/**", "(subpath \"/w/a\")"},
        {"a/**/**", "(subpath \"/w/a\")"},
        {"a*/**", "(regex \"^/w/a[^/]*(/.*)?$\")"},
        {"*", "(regex \"^/w/[^/]+$\")"},
        {"*/**", "(regex \"^/w/[^/]+(/.*)?$\")"},
        {"*/a/*", "(regex \"^/w/[^/]+/a/[^/]+$\")"},
        {"a*b", "(regex \"^/w/a[^/]*b$\")"},
        {"**/a", "(regex \"^/w/(.*/)?a$\")"},
        {"**/**/a", "(regex \"^/w/(.*/)?a$\")"},
        {"a/**/b", "(regex \"^/w/a/(.*/)?b$\")"},
        {"a/**/*", "(regex \"^/w/a/(.*/)?[^/]+$\")"},
        {"a**b", "(regex \"^/w/a.*b$\")"},
        {"**a", "(regex \"^/w/.*a$\")"},
        {"a**/b", "(regex \"^/w/a.*/b$\")"},
        {"a?", "(regex \"^/w/a[ -.0-~]$\")"},
        {"!a?", "(regex \"^/w/a([ -.0-~]|[^ -~][^ -~]?[^ -~]?[^ -~]?)$\")"},
        {"*[a].(b){c}+^$|", "(regex \"^/w/[^/]*\\\\[a\\\\]\\\\.\\\\(b\\\\)\\\\{c\\\\}\\\\+\\\\^"
                            "\\\\$\\\\|$\")"},
        {"a[b].(c)", "(literal \"/w/a[b].(c)\")"},
        {"\u00e9/*", "(regex \"^/w/\u00e9/[^/]+$\")"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_filter("/w", rows[i].rule, 0, rows[i].filter);
}

static void the_root_of_the_file_system_has_one_slash(void **state) {
    (void)state;
    static const struct row rows[] = {
        {".", "(literal \"/\")"},      {"**", "(subpath \"/\")"},
        {"a", "(literal \"/a\")"},     {"a/**", "(subpath \"/a\")"},
        {"*", "(regex \"^/[^/]+$\")"}, {"**/a", "(regex \"^/(.*/)?a$\")"},
    };
    static const struct row folded[] = {{".", "(regex \"^/$\")"},
                                        {"**", "(regex \"^/.*$\")"},
                                        {"**/**", "(regex \"^/.*$\")"},
                                        {"a/**", "(regex \"^/[aA](/.*)?$\")"}};
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_filter("/", rows[i].rule, 0, rows[i].filter);
    for (size_t i = 0; i < LENGTH(folded); i++)
        assert_filter("/", folded[i].rule, BS_FOLD, folded[i].filter);
}

static void the_root_is_literal(void **state) {
    (void)state;
    assert_filter("/a/p[1]*?.x", "b", 0, "(literal \"/a/p[1]*?.x/b\")");
    assert_filter("/a/p[1]*?.x", "b*", 0, "(regex \"^/a/p\\\\[1\\\\]\\\\*\\\\?\\\\.x/b[^/]*$\")");
    assert_filter("/a/\"b\\c", "b/**", 0, "(subpath \"/a/\\\"b\\\\c/b\")");
    assert_filter("/a/\"b\\c", "b*", 0, "(regex \"^/a/\\\"b\\\\\\\\c/b[^/]*$\")");
}

static void names_cannot_end_a_string(void **state) {
    (void)state;
    assert_rules(PROFILE("'**'", "'a'"), 0, AT("/x\")(allow default)(\""),
                 "(allow file-write* (literal \"/x\\\")(allow default)(\\\"/a\"))\n");
    struct bs_sbpl_input input = {.root = "/w", .codex_home = "/x\")(allow default)(\"\\"};
    assert_has_lines("'fsProfiles':{'p':{}}", input,
                     "(subpath \"/x\\\")(allow default)(\\\"\\\\\"))\n");
    char spec[256];
    (void)snprintf(spec, sizeof spec, PROFILE("'**'", "'%s','%s*'"), "x\\u0022)(allow default)(",
                   "x\\u0022)");
    assert_rules(spec, 0, AT("/w"),
                 "(allow file-write* (literal \"/w/x\\\")(allow default)(\"))\n"
                 "(allow file-write* (regex \"^/w/x\\\"\\\\)[^/]*$\"))\n");
}

static void with_folding_every_filter_is_an_expression(void **state) {
    (void)state;
    static const struct row rows[] = {
        {".", "(regex \"^/W$\")"},
        {"**", "(regex \"^/W(/.*)?$\")"},
        {"aZ/1.x", "(regex \"^/W/[aA][zZ]/1\\\\.[xX]$\")"},
        {"A/**", "(regex \"^/W/[aA](/.*)?$\")"},
        {"**/k*", "(regex \"^/W/(.*/)?(k|K|\u212a)[^/]*$\")"},
        {"\u00ea", "(regex \"^/W/(\u00ea|E\u0302|e\u0302|\u00ca)$\")"},
        {"E\u0302", "(regex \"^/W/(\u00ea|E\u0302|e\u0302|\u00ca)$\")"},
        {"?", "(regex \"^/W/[ -.0-~]$\")"},
        {"!?", "(regex \"^/W/[^/][^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?[^ -~]?$\")"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_filter("/W", rows[i].rule, BS_FOLD, rows[i].filter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_its_filter),
        cmocka_unit_test(the_root_of_the_file_system_has_one_slash),
        cmocka_unit_test(the_root_is_literal),
        cmocka_unit_test(names_cannot_end_a_string),
        cmocka_unit_test(with_folding_every_filter_is_an_expression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
