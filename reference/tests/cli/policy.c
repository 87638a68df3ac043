/* The commands as a person meets them: what they print and how they exit. */
#define _GNU_SOURCE
#include "cli/policy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "support/folder.h"
#include "support/harness.h"

enum { MOST_WORDS = 16 };

struct place {
    struct folder *folder;
    char *before; /* the working directory */
    int out;      /* the real stdout and stderr */
    int err;
};

static const char policy_yaml[] = "schemaVersion: 2\n"
                                  "kind: Policy\n"
                                  "metadata: {name: default}\n"
                                  "spec:\n"
                                  "  denyModify: [.state/**, '!.state/cache/**']\n"
                                  "  fsProfiles:\n"
                                  "    dev:\n"
                                  "      read: ['**']\n"
                                  "      modify: [src/**, '!src/gen/**', .state/cache/**]\n";

static int set_up(void **state) {
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL || folder_setup((void **)&place->folder) != 0)
        return -1;
    folder_add_file(place->folder, "p.yaml", policy_yaml, 0600);
    folder_add_file(place->folder, "bad.json", "{\"schemaVersion\":2,\n \"kind\":3}", 0600);
    folder_add_file(place->folder, "old.json", "{\"schemaVersion\":1}", 0600);
    folder_add_folder(place->folder, "root");
    assert_int_equal(symlinkat("/etc", place->folder->fd, "root/out"), 0);
    place->before = getcwd(NULL, 0);
    place->out = dup(1);
    place->err = dup(2);
    *state = place;
    return place->before != NULL ? chdir(place->folder->path) : -1;
}

static int tear_down(void **state) {
    struct place *place = *state;
    int rc = chdir(place->before);
    (void)close(place->out);
    (void)close(place->err);
    if (folder_teardown((void **)&place->folder) != 0)
        rc = -1;
    free(place->before);
    free(place);
    return rc;
}

struct said {
    int status;
    char out[8192];
    char err[4096];
};

static void take(const char *name, int fd, int kept, char *text, size_t size) {
    (void)fflush(fd == 1 ? stdout : stderr);
    assert_true(dup2(kept, fd) == fd);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(file, text, size - 1);
    (void)close(file);
    assert_true(n >= 0);
    text[n] = '\0';
}

static void redirect(const char *name, int fd) {
    (void)fflush(fd == 1 ? stdout : stderr);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(dup2(file, fd) == fd);
    (void)close(file);
}

static struct said run(void **state, const char *words) {
    const struct place *place = *state;
    struct said said;
    char *copy = strdup(words);
    char *argv[MOST_WORDS + 1] = {NULL};
    int argc = 0;
    char policy[] = "policy";
    argv[argc++] = policy;
    for (char *at = strtok(copy, " "); at != NULL; at = strtok(NULL, " ")) /* NOLINT */
        argv[argc++] = at;
    redirect("stdout", 1);
    redirect("stderr", 2);
    said.status = bs_cli_policy(argc, argv);
    take("stdout", 1, place->out, said.out, sizeof said.out);
    take("stderr", 2, place->err, said.err, sizeof said.err);
    free(copy);
    return said;
}

static void assert_said(void **state, const char *words, int status, const char *out,
                        const char *err) {
    struct said said = run(state, words);
    if (said.status != status || strstr(said.out, out) == NULL || strstr(said.err, err) == NULL)
        fail_msg("%s: %d `%s` `%s`", words, said.status, said.out, said.err);
    /* One line for each thing that is wrong. */
    assert_true(said.err[0] == '\0' || said.err[strlen(said.err) - 1] == '\n');
}

static void a_check_exits_by_its_answer(void **state) {
    assert_said(state, "check p.yaml read src/a", 0, "allowed read src/a  by **\n", "");
    assert_said(state, "check --profile dev p.yaml modify src//a docs/x", 3,
                "allowed modify src/a  by src/**\ndenied  modify docs/x  by <no matching rule>\n",
                "");
    assert_said(state, "check p.yaml read /a", 2, "", "boxspec-ref: /a: the path is absolute");
    assert_said(state, "check p.yaml modify --audit .state/x", 3, "\"matched_rule\":\".state/**\"}",
                "");
    assert_said(state, "check p.yaml --root root read out x", 3,
                "denied  read out  by <outside workspace>\nallowed read x  by **\n", "");
    assert_said(state, "check p.yaml --root root --parent read out", 0, "allowed read out", "");
}

static void explain_shows_every_rule_with_its_line(void **state) {
    struct said said = run(state, "explain --profile dev p.yaml modify .state/cache/x");
    assert_int_equal(said.status, 0);
    assert_string_equal(said.out,
                        "allowed modify .state/cache/x  by .state/cache/**\n"
                        "           profile     p.yaml:9                 src/**\n"
                        "           profile     p.yaml:9                 !src/gen/**\n"
                        "  decides  profile     p.yaml:9                 .state/cache/**\n"
                        "  matches  denyModify  p.yaml:5                 !.state/**\n"
                        "  matches  exception   p.yaml:5                 .state/cache/**\n");
}

static void why_not_names_the_smallest_changes(void **state) {
    struct said said = run(state, "why-not --profile dev p.yaml modify src/gen/x");
    assert_int_equal(said.status, 3);
    assert_string_equal(said.out, "denied  modify src/gen/x  by src/gen/**\n"
                                  "it would be allowed by\n"
                                  "  remove from p.yaml:9                 profile !src/gen/**\n"
                                  "or by\n"
                                  "  add to    profile dev, modify, at its end: src/gen/x\n");
}

static void what_is_wrong_with_a_file_has_its_place(void **state) {
    assert_said(state, "lint p.yaml bad.json", 2, "p.yaml: policy default loads\n",
                "bad.json:2:9: /kind: ");
    assert_said(state, "check old.json read a", 2, "", "old.json:1:18: /schemaVersion: ");
    assert_said(state, "check none.json read a", 2, "", "none.json: cannot be read: ");
    assert_said(state, "print root", 2, "", "--format json or --format yaml");
}

static void policies_are_printed(void **state) {
    assert_said(state, "print p.yaml --to json", 0, "\"schemaVersion\": 2", "");
    assert_said(state, "merge p.yaml p.yaml", 0, "schemaVersion: 2\n", "");
    assert_said(state, "migrate old.json", 0, "schemaVersion: 2\n", "");
    assert_said(state, "links root", 0, "", "");
}

static void wrong_usage_is_said_with_its_remedy(void **state) {
    static const char *const rows[][2] = {
        {"bogus", "policy bogus: unknown command"},
        {"check", "write POLICY read|modify PATH"},
        {"check p.yaml write a", "an operation is read or modify"},
        {"check p.yaml read a --most 3", "--most means nothing to policy check"},
        {"check p.yaml read a --profile", "a value is missing"},
        {"check p.yaml read a --what", "unknown option"},
        {"check p.yaml read a --profile q", "unknown profile `q`"},
        {"check p.yaml read a --root none", "no such folder"},
        {"print p.yaml --to xml", "a format is json or yaml"},
        {"merge p.yaml", "name two files"},
        {"links", "name one folder"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_said(state, rows[i][0], 2, "", rows[i][1]);
    assert_said(state, "--help", 0, "usage: boxspec-ref policy", "");
    assert_said(state, "lint --help", 0, "usage: boxspec-ref policy", "");
    assert_said(state, "links none", BS_CLI_ELSEWHERE, "", "cannot read the folder `none`");
}

static void control_characters_stay_off_the_terminal(void **state) {
    assert_said(state, "check p.yaml read a\x1b[31m\n\xC2\x9B", 0,
                "read a\\x1b[31m\\x0a\\xc2\\x9b ", "");
}

#define in_a_place(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_place(a_check_exits_by_its_answer),
        in_a_place(explain_shows_every_rule_with_its_line),
        in_a_place(why_not_names_the_smallest_changes),
        in_a_place(what_is_wrong_with_a_file_has_its_place),
        in_a_place(policies_are_printed),
        in_a_place(wrong_usage_is_said_with_its_remedy),
        in_a_place(control_characters_stay_off_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
