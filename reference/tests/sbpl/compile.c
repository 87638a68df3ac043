#include "sbpl/compiling.h"

static const char everything[] =
    "(version 1)\n"
    "(deny default)\n"
    "(allow file-read*)\n"
    "(allow process*)\n"
    "(allow signal)\n"
    "(allow ipc-posix*)\n"
    "(allow mach*)\n"
    "(allow system-fsctl)\n"
    "(allow system-socket)\n"
    "(allow system-mac-syscall (mac-policy-name \"vnguard\"))\n"
    "(allow system-mac-syscall (require-all (mac-policy-name \"Sandbox\") (mac-syscall-number "
    "67)))\n"
    "(allow network*)\n"
    "(allow sysctl*)\n"
    "(allow iokit*)\n"
    "(allow file-write* (subpath \"/private/tmp\"))\n"
    "(allow file-write* (subpath \"/tmp\"))\n"
    "(allow file-write* (subpath \"/private/var/folders\"))\n"
    "(allow file-write* (subpath \"/dev\"))\n"
    "(allow file-write* (subpath \"/Users/u/Library/Caches\"))\n"
    "(allow file-write* (subpath \"/Users/u/.orbit\"))\n"
    "(allow file-write* (subpath \"/opt/codex\"))\n"
    "(allow file-write* (subpath \"/Users/u/.claude\"))\n"
    "(allow file-write* (subpath \"/Users/u/.gemini\"))\n"
    "(deny file-write* (subpath \"/Users/u/ws\"))\n"
    "(allow file-write* (subpath \"/Users/u/ws/src\"))\n"
    "(deny file-write* (literal \"/Users/u/ws/src/a\"))\n"
    "(deny file-write* (subpath \"/Users/u/ws/src/gen\"))\n"
    "(deny file-write* (subpath \"/Users/u/ws/src/gen/out\"))\n"
    "(allow file-write* (require-all (subpath \"/Users/u/ws/src/gen/out\") (subpath "
    "\"/Users/u/ws/src\")))\n"
    "(deny file-write* (require-all (subpath \"/Users/u/ws/src/gen/out\") (literal "
    "\"/Users/u/ws/src/a\")))\n"
    "(deny file-write* (subpath \"/Users/u/ws/src/gen/out/x\"))\n"
    "(deny file-read* (subpath \"/Users/u/ws/k\"))\n"
    "(allow file-read* (literal \"/Users/u/ws/k/a\"))\n"
    "(deny file-read* (regex \"^/Users/u/ws/(.*/)?[^/]*\\\\.env$\"))\n"
    "(allow file-write* (subpath \"/opt/side\"))\n"
    "(deny file-write-unlink (subpath \"/Users/u/ws/k\"))\n"
    "(deny file-write-unlink (regex \"^/Users/u/ws/(.*/)?[^/]*\\\\.env$\"))\n";

static void every_part_of_a_profile_is_in_order(void **state) {
    (void)state;
    static const char *const side_roots[] = {"/opt/side"};
    struct compiled compiled = compile(
        PROFILE("'**','!k/**','k/a'", "'src/**','!src/a'") ",'denyRead':['**/*.env'],'denyModify':["
                                                           "'src/gen/**','!src/gen/out/**',"
                                                           "'src/gen/out/x/**']",
        0,
        (struct bs_sbpl_input){.root = "/Users/u/ws",
                               .home = "/Users/u",
                               .codex_home = "/opt/codex",
                               .claude_config_dir = "",
                               .side_roots = side_roots,
                               .n_side_roots = 1,
                               .provider = BS_PROVIDER_CODEX});
    assert_int_equal(compiled.code, BS_OK);
    assert_string_equal(compiled.sbpl.text.data, everything);
    assert_int_equal(compiled.sbpl.n_unguarded, 1);
    assert_string_equal(compiled.sbpl.unguarded[0]->rule, "**/*.env");
    discard(&compiled);
}

static void variables_move_the_state_directories(void **state) {
    (void)state;
    struct bs_sbpl_input input = AT("/w");
    assert_has_lines("'fsProfiles':{'p':{}}", input,
                     "(subpath \"/dev\"))\n(deny file-write* (subpath \"/w\"))\n");
    input.codex_home = "/c";
    input.home = "";
    assert_has_lines("'fsProfiles':{'p':{}}", input,
                     "(subpath \"/dev\"))\n(allow file-write* (subpath \"/c\"))\n(deny ");
    input.home = "/h";
    input.codex_home = "";
    input.claude_config_dir = "/h/x";
    assert_has_lines("'fsProfiles':{'p':{}}", input,
                     "(subpath \"/h/Library/Caches\"))\n"
                     "(allow file-write* (subpath \"/h/.orbit\"))\n"
                     "(allow file-write* (subpath \"/h/.codex\"))\n"
                     "(allow file-write* (subpath \"/h/x\"))\n"
                     "(allow file-write* (subpath \"/h/.gemini\"))\n(deny ");
}

static void the_home_directory_is_never_writable_as_a_whole(void **state) {
    (void)state;
    static const char *const above[] = {"/Users/u", "/Users", "/", "/Users/u/"};
    for (size_t i = 0; i < LENGTH(above); i++) {
        struct bs_sbpl_input input = {.root = "/w", .home = "/Users/u", .codex_home = above[i]};
        assert_refused("'fsProfiles':{'p':{}}", 0, input, "env.CODEX_HOME: `");
        input.codex_home = NULL;
        input.claude_config_dir = above[i];
        assert_refused("'fsProfiles':{'p':{}}", 0, input, "env.CLAUDE_CONFIG_DIR: `");
    }
    struct bs_sbpl_input input = {.root = "/w", .codex_home = "/"};
    assert_refused("'fsProfiles':{'p':{}}", 0, input, "holds everything");
    input = (struct bs_sbpl_input){.root = "/w", .home = "/"};
    assert_refused("'fsProfiles':{'p':{}}", 0, input, "env.HOME: `/`");
    /* A directory whose name only begins like that of the home directory is another directory. The
     * same holds for a name that differs in case. */
    input = (struct bs_sbpl_input){.root = "/w", .home = "/Users/u", .codex_home = "/Users/U"};
    assert_has_lines("'fsProfiles':{'p':{}}", input, "(subpath \"/Users/U\")");
    assert_refused("'fsProfiles':{'p':{}}", BS_FOLD, input, "env.CODEX_HOME");
    input.codex_home = "/Users/u2";
    assert_has_lines("'fsProfiles':{'p':{}}", input, "(subpath \"/Users/u2\")");
}

static void reads_begin_at_the_first_deny(void **state) {
    (void)state;
    assert_rules(PROFILE("'a','**'", ""), 0, AT("/w"), "");
    assert_rules(PROFILE("'a','!b','c'", ""), 0, AT("/w"),
                 "(deny file-read* (literal \"/w/b\"))\n"
                 "(allow file-read* (literal \"/w/c\"))\n"
                 "(deny file-write-unlink (literal \"/w/b\"))\n");
}

static void ancestors_are_guarded_once(void **state) {
    (void)state;
    assert_rules(PROFILE("'**','!a/b/c/**','!a/b/*/d','!a/b*/e','!a','!a/b/c/**','!**/z','!.'", ""),
                 0, AT("/w"),
                 "(deny file-read* (subpath \"/w/a/b/c\"))\n"
                 "(deny file-read* (regex \"^/w/a/b/[^/]+/d$\"))\n"
                 "(deny file-read* (regex \"^/w/a/b[^/]*/e$\"))\n"
                 "(deny file-read* (literal \"/w/a\"))\n"
                 "(deny file-read* (subpath \"/w/a/b/c\"))\n"
                 "(deny file-read* (regex \"^/w/(.*/)?z$\"))\n"
                 "(deny file-read* (literal \"/w\"))\n"
                 "(deny file-write-unlink (literal \"/w/a\"))\n"
                 "(deny file-write-unlink (literal \"/w/a/b\"))\n"
                 "(deny file-write-unlink (subpath \"/w/a/b/c\"))\n"
                 "(deny file-write-unlink (regex \"^/w/a/b/[^/]+/d$\"))\n"
                 "(deny file-write-unlink (regex \"^/w/a/b[^/]*/e$\"))\n"
                 "(deny file-write-unlink (regex \"^/w/(.*/)?z$\"))\n"
                 "(deny file-write-unlink (literal \"/w\"))\n");
}

static void the_directory_of_a_glob_is_guarded(void **state) {
    (void)state;
    assert_rules(PROFILE("'**','!a/b/*.env','!c/**/d'", ""), 0, AT("/w"),
                 "(deny file-read* (regex \"^/w/a/b/[^/]*\\\\.env$\"))\n"
                 "(deny file-read* (regex \"^/w/c/(.*/)?d$\"))\n"
                 "(deny file-write-unlink (literal \"/w/a\"))\n"
                 "(deny file-write-unlink (literal \"/w/a/b\"))\n"
                 "(deny file-write-unlink (regex \"^/w/a/b/[^/]*\\\\.env$\"))\n"
                 "(deny file-write-unlink (literal \"/w/c\"))\n"
                 "(deny file-write-unlink (regex \"^/w/c/(.*/)?d$\"))\n");
}

static void rules_that_cannot_be_guarded_are_listed(void **state) {
    (void)state;
    static const char *const expected[] = {"**", "*.a", "b?/c", "**/d"};
    struct compiled compiled =
        compile(PROFILE("'**','!**','!*.a','!b?/c','!e/*','**/x','!./!f'", "") ",'denyRead':['**/d'"
                                                                               "]",
                0, AT("/w"));
    assert_int_equal(compiled.sbpl.n_unguarded, LENGTH(expected));
    for (size_t i = 0; i < LENGTH(expected); i++)
        assert_string_equal(compiled.sbpl.unguarded[i]->rule, expected[i]);
    discard(&compiled);
}

static void only_codex_has_side_roots(void **state) {
    (void)state;
    static const char *const side_roots[] = {"/s//a/", "/w/src"};
    struct bs_sbpl_input input = {.root = "/w", .side_roots = side_roots, .n_side_roots = 2};
    for (int i = BS_PROVIDER_NONE; i <= BS_PROVIDER_GEMINI; i++) {
        input.provider = (enum bs_provider)i;
        assert_rules(PROFILE("'**'", ""), 0, input,
                     i == BS_PROVIDER_CODEX ? "(allow file-write* (subpath \"/s/a\"))\n"
                                              "(allow file-write* (subpath \"/w/src\"))\n"
                                            : "");
    }
}

static void a_side_root_must_not_meet_a_read_denied_place(void **state) {
    (void)state;
    static const struct {
        const char *rule;
        const char *side_root;
        bool refused;
    } rows[] = {
        {"k/**", "/w/k", true},
        {"k/**", "/w/k/x", true},
        {"k/**", "/w", true},
        {"k/**", "/", true},
        {"k/**", "/w/k2", false},
        {"k/**", "/w/K", false},
        {"a/b/*.env", "/w/a/b/c", true},
        {"a/b/*.env", "/w/a", true},
        {"a/b/*.env", "/w/a/c", false},
        {"**/x", "/w/a", false},
        {".", "/w", true},
        {".", "/w2", false},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char spec[128];
        struct bs_sbpl_input input = {.root = "/w",
                                      .side_roots = &rows[i].side_root,
                                      .n_side_roots = 1,
                                      .provider = BS_PROVIDER_CODEX};
        (void)snprintf(spec, sizeof spec, "'fsProfiles':{'p':{}},'denyRead':['%s']", rows[i].rule);
        if (rows[i].refused)
            assert_refused(spec, 0, input, "overlaps denyRead[0], `");
        else
            assert_has_lines(spec, input, "(allow file-write* (subpath \"/");
        input.provider = BS_PROVIDER_CLAUDE;
        assert_has_lines(spec, input, "(deny file-write-unlink ");
    }
    const char *other_case = "/w/K";
    struct bs_sbpl_input input = {
        .root = "/w", .side_roots = &other_case, .n_side_roots = 1, .provider = BS_PROVIDER_CODEX};
    assert_refused("'fsProfiles':{'p':{}},'denyRead':['k/**']", BS_FOLD, input,
                   "side_roots[0]: `/w/K` overlaps");
}

static void the_length_of_a_profile_is_limited(void **state) {
    (void)state;
    enum { RULES = 500 };
    struct bs_sbpl_input input = AT("/a/workspace/whose/name/is/not/short/at/all");
    char *spec = malloc(RULES * 100);
    assert_non_null(spec);
    size_t used = (size_t)sprintf(spec, "'fsProfiles':{'p':{'read':['**'],'modify':['**'");
    for (int i = 0; i < RULES; i++)
        used += (size_t)sprintf(spec + used, ",'!some/directory/%d'", i);
    used += (size_t)sprintf(spec + used, "]}},'denyModify':['g/**'");
    for (int i = 0; i < RULES; i++)
        used += (size_t)sprintf(spec + used, ",'!g/%d'", i);
    (void)snprintf(spec + used, 2, "]");
    assert_refused(spec, 0, input, "more than 8388608 bytes");
    free(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_a_profile_is_in_order),
        cmocka_unit_test(variables_move_the_state_directories),
        cmocka_unit_test(the_home_directory_is_never_writable_as_a_whole),
        cmocka_unit_test(reads_begin_at_the_first_deny),
        cmocka_unit_test(ancestors_are_guarded_once),
        cmocka_unit_test(the_directory_of_a_glob_is_guarded),
        cmocka_unit_test(rules_that_cannot_be_guarded_are_listed),
        cmocka_unit_test(only_codex_has_side_roots),
        cmocka_unit_test(a_side_root_must_not_meet_a_read_denied_place),
        cmocka_unit_test(the_length_of_a_profile_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
