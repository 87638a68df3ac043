/* Tests the commands as a user would use them: their output and exit status. */
#define _GNU_SOURCE
#include "cli/policy.h"

#include <unistd.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/commands.h"

static const char policy_yaml[] = "schemaVersion: 2\n"
                                  "kind: Policy\n"
                                  "metadata: {name: default}\n"
                                  "spec:\n"
                                  "  denyModify: [.state/**, '!.state/cache/**']\n"
                                  "  fsProfiles:\n"
                                  "    dev:\n"
                                  "      read: ['**']\n"
                                  "      modify: [src/**, '!src/gen/**', .state/cache/**]\n";

static int fill(const struct folder *folder) {
    folder_add_file(folder, "p.yaml", policy_yaml, 0600);
    folder_add_file(folder, "bad.json", "{\"schemaVersion\":2,\n \"kind\":3}", 0600);
    folder_add_file(folder, "old.json", "{\"schemaVersion\":1}", 0600);
    folder_add_folder(folder, "root");
    return symlinkat("/etc", folder->fd, "root/out");
}

static int set_up(void **state) { return enter_place(state, bs_cli_policy, "policy", fill); }

static void the_exit_status_of_check_is_its_answer(void **state) {
    assert_prints(state, "check p.yaml read src/a", 0, "allowed read src/a  by **\n", "");
    assert_prints(state, "check --profile dev p.yaml modify src//a docs/x", 3,
                  "allowed modify src/a  by src/**\ndenied  modify docs/x  by <no matching rule>\n",
                  "");
    assert_prints(state, "check p.yaml read /a", 2, "", "boxspec-ref: /a: the path is absolute");
    assert_prints(state, "check p.yaml modify --audit .state/x", 3,
                  "\"matched_rule\":\".state/**\"}", "");
    assert_prints(state, "check p.yaml --root root read out x", 3,
                  "denied  read out  by <outside workspace>\nallowed read x  by **\n", "");
    assert_prints(state, "check p.yaml --root root --parent read out", 0, "allowed read out", "");
}

static void explain_shows_every_rule_with_its_line(void **state) {
    struct printed printed =
        run_command(state, "explain --profile dev p.yaml modify .state/cache/x");
    assert_int_equal(printed.status, 0);
    assert_string_equal(printed.out,
                        "allowed modify .state/cache/x  by .state/cache/**\n"
                        "           profile     p.yaml:9                 src/**\n"
                        "           profile     p.yaml:9                 !src/gen/**\n"
                        "  decides  profile     p.yaml:9                 .state/cache/**\n"
                        "  matches  denyModify  p.yaml:5                 !.state/**\n"
                        "  matches  exception   p.yaml:5                 .state/cache/**\n");
}

static void why_not_names_the_smallest_changes(void **state) {
    struct printed printed = run_command(state, "why-not --profile dev p.yaml modify src/gen/x");
    assert_int_equal(printed.status, 3);
    assert_string_equal(printed.out, "denied  modify src/gen/x  by src/gen/**\n"
                                     "it would be allowed by\n"
                                     "  remove from p.yaml:9                 profile !src/gen/**\n"
                                     "or by\n"
                                     "  add to    profile dev, modify, at its end: src/gen/x\n");
}

static void problems_of_a_file_have_their_place(void **state) {
    assert_prints(state, "lint p.yaml bad.json", 2, "p.yaml: policy default loads\n",
                  "bad.json:2:9: /kind: ");
    assert_prints(state, "check old.json read a", 2, "", "old.json:1:18: /schemaVersion: ");
    assert_prints(state, "check none.json read a", 2, "", "none.json: cannot be read: ");
    assert_prints(state, "print root", 2, "", "--format json or --format yaml");
}

static void policies_are_printed(void **state) {
    assert_prints(state, "print p.yaml --to json", 0, "\"schemaVersion\": 2", "");
    assert_prints(state, "merge p.yaml p.yaml", 0, "schemaVersion: 2\n", "");
    assert_prints(state, "migrate old.json", 0, "schemaVersion: 2\n", "");
    assert_prints(state, "links root", 0, "", "");
}

static void wrong_usage_is_reported_with_its_remedy(void **state) {
    static const char *const rows[][2] = {
        {"bogus", "policy bogus: unknown command"},
        {"check", "write POLICY read|modify PATH"},
        {"check p.yaml write a", "the operation must be read or modify"},
        {"check p.yaml read a --most 3", "--most is no option of policy check"},
        {"check p.yaml read a --profile", "a value is missing"},
        {"check p.yaml read a --what", "unknown option"},
        {"check p.yaml read a --profile q", "unknown profile `q`"},
        {"check p.yaml read a --root none", "no such folder"},
        {"print p.yaml --to xml", "the format must be json or yaml"},
        {"merge p.yaml", "name two files"},
        {"links", "name one folder"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_prints(state, rows[i][0], 2, "", rows[i][1]);
    assert_prints(state, "--help", 0, "usage: boxspec-ref policy", "");
    assert_prints(state, "lint --help", 0, "usage: boxspec-ref policy", "");
    assert_prints(state, "links none", BS_CLI_ELSEWHERE, "", "cannot read the folder `none`");
}

static void control_characters_are_escaped(void **state) {
    assert_prints(state, "check p.yaml read a\x1b[31m\n\xC2\x9B", 0,
                  "read a\\x1b[31m\\x0a\\xc2\\x9b ", "");
}

#define in_a_place(test) cmocka_unit_test_setup_teardown(test, set_up, leave_place)

static void many_problems_are_counted(void **state) {
    const struct place *place = *state;
    struct bs_buf text = BS_BUF_INIT;
    bs_buf_str(&text, "{\"schemaVersion\":2,\"kind\":\"Policy\",\"metadata\":{\"name\":\"p\"},"
                      "\"spec\":{\"denyRead\":[0");
    for (int i = 1; i < 150; i++)
        bs_buf_str(&text, ",7");
    bs_buf_str(&text, "]}}");
    bs_buf_char(&text, '\0');
    folder_add_file(place->folder, "many.json", text.data, 0600);
    bs_buf_clear(&text);
    assert_prints(state, "lint many.json", 2, "", "/spec/denyRead/99: ");
    assert_prints(state, "lint many.json", 2, "", "many.json: problems that are not shown: 50\n");
    assert_prints(state, "print many.json", 2, "", "many.json: problems that are not shown: 50\n");
    assert_prints(state, "lint --most 149 many.json", 2, "",
                  "many.json: problems that are not shown: 1\n");
    struct printed printed = run_command(state, "lint --most 150 many.json");
    assert_non_null(strstr(printed.err, "/spec/denyRead/149: "));
    assert_null(strstr(printed.err, "not shown"));
    printed = run_command(state, "lint --most 1 p.yaml p.yaml");
    assert_int_equal(printed.status, 0);
    assert_null(strstr(printed.out, "not shown"));
}

static void warnings_are_counted_too(void **state) {
    const struct place *place = *state;
    folder_add_file(place->folder, "warns.yaml",
                    "schemaVersion: 2\nkind: Policy\nmetadata: {name: w}\n"
                    "spec: {denyRead: [a, b, c]}\n",
                    0600);
    struct printed printed = run_command(state, "lint --most 2 warns.yaml");
    assert_int_equal(printed.status, 0);
    assert_non_null(strstr(printed.out, "/spec/denyRead/1: "));
    assert_null(strstr(printed.out, "/spec/denyRead/2: "));
    assert_non_null(strstr(printed.out, "warns.yaml: warnings that are not shown: 1\n"));
}

/* A named pipe without a writer must be refused, because opening it for reading would block. */
static void a_fifo_is_not_read(void **state) {
    const struct place *place = *state;
    assert_int_equal(mkfifoat(place->folder->fd, "fifo.json", 0600), 0);
    static const char *const words[] = {"lint fifo.json", "check fifo.json read x",
                                        "lint p.yaml --workspace fifo.json", "migrate fifo.json",
                                        "lint --format json root"};
    for (size_t i = 0; i < LENGTH(words); i++)
        assert_prints(state, words[i], 2, "", "is not a regular file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_place(the_exit_status_of_check_is_its_answer),
        in_a_place(explain_shows_every_rule_with_its_line),
        in_a_place(why_not_names_the_smallest_changes),
        in_a_place(problems_of_a_file_have_their_place),
        in_a_place(many_problems_are_counted),
        in_a_place(warnings_are_counted_too),
        in_a_place(a_fifo_is_not_read),
        in_a_place(policies_are_printed),
        in_a_place(wrong_usage_is_reported_with_its_remedy),
        in_a_place(control_characters_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
