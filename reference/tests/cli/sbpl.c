/* Tests the command as a user would use it: its output and exit status. */
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/policy.h"

static int fill(const struct folder *folder) {
    folder_add_file(folder, "p.yaml",
                    "schemaVersion: 2\nkind: Policy\nmetadata: {name: default}\n"
                    "spec: {denyRead: ['**/*.env'], fsProfiles: {dev: {read: ['**'], modify: "
                    "[src/**]}}}\n",
                    0600);
    folder_add_file(folder, "more.json",
                    "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"w\"},"
                    "\"spec\":{\"denyRead\":[\"keys/**\"]}}",
                    0600);
    folder_add_file(folder, "bad.json", "{\"schemaVersion\":2,\n \"kind\":3}", 0600);
    return 0;
}

static int set_up(void **state) {
    (void)setenv("HOME", "/Users/u", 1);
    (void)setenv("CODEX_HOME", "", 1);
    (void)setenv("CLAUDE_CONFIG_DIR", "/Users/u/claude", 1);
    return enter_place(state, bs_cli_sbpl, "sbpl", fill);
}

static void a_profile_is_printed(void **state) {
    assert_prints(state, "p.yaml --profile dev --root /Users/u/ws", 0,
                  "(allow file-write* (subpath \"/Users/u/.codex\"))\n"
                  "(allow file-write* (subpath \"/Users/u/claude\"))\n"
                  "(allow file-write* (subpath \"/Users/u/.gemini\"))\n"
                  "(deny file-write* (subpath \"/Users/u/ws\"))\n"
                  "(allow file-write* (subpath \"/Users/u/ws/src\"))\n"
                  "(deny file-read* (regex \"^/Users/u/ws/(.*/)?[^/]*\\\\.env$\"))\n"
                  "(deny file-write-unlink ",
                  "boxspec-ref: a directory above `**/*.env` can be renamed");
    assert_prints(state, "--root /w p.yaml --case fold", 0, "\\\\.[eE][nN][vV]$", "");
    assert_prints(state, "--root /w p.yaml --workspace more.json", 0, "(subpath \"/w/keys\")", "");
    assert_prints(state, "--root /w --format yaml p.yaml", 0,
                  "(allow file-write* (subpath \"/w\"))", "");
}

static void the_option_for_side_roots_may_be_repeated(void **state) {
    static const char words[] =
        "p.yaml --root /w --side-root /a --side-root /b --profile dev --provider ";
    char line[128];
    (void)snprintf(line, sizeof line, "%s%s", words, "codex");
    assert_prints(state, line, 0,
                  "(allow file-write* (subpath \"/a\"))\n(allow file-write* (subpath \"/b\"))\n",
                  "");
    (void)snprintf(line, sizeof line, "%s%s", words, "gemini");
    struct printed printed = run_command(state, line);
    assert_int_equal(printed.status, 0);
    assert_null(strstr(printed.out, "(subpath \"/a\")"));
}

static void wrong_usage_is_reported_with_its_remedy(void **state) {
    static const char *const rows[][2] = {
        {"", "name a policy and a root"},
        {"p.yaml", "name a policy and a root"},
        {"p.yaml p.yaml --root /w", "name a policy and a root"},
        {"--root /w", "name a policy and a root"},
        {"p.yaml --root", "a value is missing"},
        {"p.yaml --what", "unknown option"},
        {"p.yaml --root /w --provider x", "one of codex, claude, gemini"},
        {"p.yaml --root /w --case x", "fold or sensitive"},
        {"p.yaml --root /w --profile x", "unknown profile `x`"},
        {"p.yaml --root w", "root: `w` is not absolute"},
        {"p.yaml --root /tmp", "give `/private/tmp`"},
        {"none.json --root /w", "none.json: cannot be read"},
        {"bad.json --root /w", "bad.json:2:9: /kind: "},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_prints(state, rows[i][0], 2, "", rows[i][1]);
    assert_prints(state, "--help", 0, "usage: boxspec-ref sbpl", "");
}

static void a_failed_write_is_an_error(void **state) {
    struct place *place = *state;
    char name[] = "sbpl";
    char policy[] = "p.yaml";
    char root[] = "--root=/w";
    char *argv[] = {name, policy, root, NULL};
    redirect("/dev/full", 1);
    redirect("stderr", 2);
    int status = bs_cli_sbpl(3, argv);
    clearerr(stdout);
    assert_true(dup2(place->out, 1) == 1);
    assert_true(dup2(place->err, 2) == 2);
    assert_int_equal(status, BS_CLI_ELSEWHERE);
}

#define in_a_place(test) cmocka_unit_test_setup_teardown(test, set_up, leave_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_place(a_profile_is_printed),
        in_a_place(the_option_for_side_roots_may_be_repeated),
        in_a_place(wrong_usage_is_reported_with_its_remedy),
        in_a_place(a_failed_write_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
