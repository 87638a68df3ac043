#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/profiles.h"

/* A root, and a directory next to it, which is outside of the root. */
struct place {
    struct folder *folder;
    char root[128];
    struct bs_profile *profile; /* a profile that allows everything except `secret` */
    struct holdings before;
};

static int set_up(void **state) {
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL || folder_setup((void **)&place->folder) != 0)
        return -1;
    (void)snprintf(place->root, sizeof place->root, "%s/root", place->folder->path);
    static const char *const folders[] = {"root", "root/docs", "root/docs/deep", "root/secret",
                                          "outside"};
    for (size_t i = 0; i < LENGTH(folders); i++)
        folder_add_folder(place->folder, folders[i]);
    folder_add_file(place->folder, "root/docs/page", "", 0600);
    folder_add_file(place->folder, "root/secret/key", "", 0600);
    place->profile = profile_of("'denyRead':['secret/**']", NULL, NULL, 0);
    place->before = holdings_now();
    *state = place;
    return 0;
}

static int tear_down(void **state) {
    struct place *place = *state;
    struct holdings now = holdings_now();
    int left = now.descriptors != place->before.descriptors;
    bs_profile_free(place->profile);
    int rc = folder_teardown((void **)&place->folder);
    free(place);
    return left ? -1 : rc;
}

static void add_link(const struct place *place, const char *name, const char *target) {
    char path[256];
    (void)snprintf(path, sizeof path, "root/%s", name);
    assert_int_equal(symlinkat(target, place->folder->fd, path), 0);
}

struct answer {
    int code;
    bool allowed;
    char rule[256];
    char real[256]; /* "outside" if it is not in the root */
    char path[256];
    struct bs_error err;
};

static struct answer answered(int code, struct bs_resolved *resolved, const struct bs_error *err) {
    struct answer answer = {.code = code, .err = *err};
    if (code != BS_OK)
        return answer;
    answer.allowed = resolved->decision.allowed;
    (void)snprintf(answer.rule, sizeof answer.rule, "%s", resolved->decision.matched_rule);
    (void)snprintf(answer.real, sizeof answer.real, "%s",
                   resolved->real != NULL ? resolved->real : "outside");
    (void)snprintf(answer.path, sizeof answer.path, "%.*s", (int)resolved->decision.path_len,
                   resolved->decision.path);
    if (resolved->real != NULL)
        assert_int_equal(strlen(resolved->real), resolved->real_len);
    bs_resolved_clear(resolved);
    bs_resolved_clear(resolved);
    return answer;
}

static struct answer check_path_as(const struct place *place, const char *root, const char *path,
                                   enum bs_follow follow) {
    struct bs_resolved resolved;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_check_resolved(place->profile, root, BS_OP_READ, path, strlen(path), follow,
                                 &resolved, &err);
    return answered(code, &resolved, &err);
}

static struct answer check_path(const struct place *place, const char *path) {
    return check_path_as(place, place->root, path, BS_FOLLOW_FINAL);
}

static void assert_lies_at(const struct place *place, const char *path, const char *real) {
    struct answer answer = check_path(place, path);
    if (answer.code != BS_OK)
        fail_msg("%s: %s", path, answer.err.message);
    if (strcmp(answer.real, real) != 0)
        fail_msg("%s lies at %s, not at %s", path, answer.real, real);
    bool inside = strcmp(real, "outside") != 0;
    bool secret = strncmp(real, "secret", 6) == 0;
    assert_int_equal(answer.allowed, inside && !secret);
    assert_string_equal(answer.rule, !inside ? BS_OUTSIDE_WORKSPACE : secret ? "secret/**" : "**");
}

static void a_path_without_links_is_its_own_place(void **state) {
    const struct place *place = *state;
    assert_lies_at(place, ".", ".");
    assert_lies_at(place, "docs", "docs");
    assert_lies_at(place, "docs/page", "docs/page");
    assert_lies_at(place, "./docs//page/", "docs/page");
    assert_lies_at(place, "secret/key", "secret/key");
}

static void links_are_resolved_from_their_own_directory(void **state) {
    const struct place *place = *state;
    char target[256];
    add_link(place, "docs/sibling", "page");
    add_link(place, "docs/up", "../secret/key");
    add_link(place, "docs/deep/up", "../../secret");
    add_link(place, "folder", "docs/deep");
    add_link(place, "dots", "./docs/././deep/..//page");
    (void)snprintf(target, sizeof target, "%s/secret", place->root);
    add_link(place, "absolute", target);
    assert_lies_at(place, "docs/sibling", "docs/page");
    assert_lies_at(place, "docs/up", "secret/key");
    assert_lies_at(place, "docs/deep/up/key", "secret/key");
    assert_lies_at(place, "folder/up/key", "secret/key");
    assert_lies_at(place, "folder/x", "docs/deep/x");
    assert_lies_at(place, "dots", "docs/page");
    assert_lies_at(place, "absolute", "secret");
    assert_lies_at(place, "absolute/key", "secret/key");
}

static void a_path_that_leaves_the_root_is_outside_unless_it_comes_back(void **state) {
    const struct place *place = *state;
    char target[256];
    add_link(place, "out", "../outside");
    add_link(place, "above", "..");
    add_link(place, "top", "/");
    add_link(place, "etc", "/etc/hostname");
    add_link(place, "back", "../root/secret/key");
    (void)snprintf(target, sizeof target, "%s/outside/back", place->folder->path);
    assert_int_equal(symlink("../root/docs", target), 0);
    assert_lies_at(place, "out", "outside");
    assert_lies_at(place, "out/new/file", "outside");
    assert_lies_at(place, "above", "outside");
    assert_lies_at(place, "top", "outside");
    assert_lies_at(place, "etc", "outside");
    assert_lies_at(place, "back", "secret/key");
    assert_lies_at(place, "above/root/docs/page", "docs/page");
    assert_lies_at(place, "out/back/page", "docs/page");
    assert_lies_at(place, "above/root", ".");
}

static void missing_components_keep_their_names(void **state) {
    const struct place *place = *state;
    add_link(place, "dangling", "secret/new");
    add_link(place, "docs/far", "../no/such/../place");
    add_link(place, "docs/away", "gone/../../secret/key");
    assert_lies_at(place, "new", "new");
    assert_lies_at(place, "docs/new/deeper", "docs/new/deeper");
    assert_lies_at(place, "docs/page/below", "docs/page/below");
    assert_lies_at(place, "dangling", "secret/new");
    assert_lies_at(place, "dangling/below", "secret/new/below");
    assert_lies_at(place, "docs/far", "no/place");
    /* When `..` leaves a component that does not exist, the walk continues in the file system. */
    assert_lies_at(place, "docs/away", "secret/key");
}

static void parent_does_not_follow_the_last_component(void **state) {
    const struct place *place = *state;
    add_link(place, "link", "secret/key");
    add_link(place, "folder", "secret");
    struct answer answer = check_path_as(place, place->root, "link", BS_FOLLOW_PARENT);
    assert_true(answer.allowed);
    assert_string_equal(answer.real, "link");
    answer = check_path_as(place, place->root, "folder/key", BS_FOLLOW_PARENT);
    assert_false(answer.allowed);
    assert_string_equal(answer.real, "secret/key");
    answer = check_path_as(place, place->root, ".", BS_FOLLOW_PARENT);
    assert_string_equal(answer.real, ".");
}

static void add_chain(const struct place *place, unsigned links, const char *end) {
    for (unsigned i = 1; i <= links; i++) {
        char name[32];
        char target[32];
        (void)snprintf(name, sizeof name, "l%u", i);
        (void)snprintf(target, sizeof target, "l%u", i + 1);
        add_link(place, name, i < links ? target : end);
    }
}

static void forty_links_are_followed_and_no_more(void **state) {
    const struct place *place = *state;
    add_chain(place, BS_MOST_LINKS + 1, "docs/page");
    struct answer answer = check_path(place, "l2");
    assert_true(answer.allowed);
    assert_string_equal(answer.real, "docs/page");
    answer = check_path(place, "l1");
    assert_int_equal(answer.code, BS_E_IO);
    assert_non_null(strstr(answer.err.message, "too many symbolic links"));
}

static void a_loop_is_an_error(void **state) {
    const struct place *place = *state;
    add_link(place, "self", "self");
    add_link(place, "ping", "docs/pong");
    add_link(place, "docs/pong", "../ping");
    add_link(place, "inside", "inside/x");
    assert_int_equal(check_path(place, "self").code, BS_E_IO);
    assert_int_equal(check_path(place, "ping/x").code, BS_E_IO);
    assert_int_equal(check_path(place, "inside").code, BS_E_IO);
    struct answer answer = check_path_as(place, place->root, "self", BS_FOLLOW_PARENT);
    assert_int_equal(answer.code, BS_OK);
    assert_true(answer.allowed);
}

static void absolute_paths_inside_the_root_count_as_relative(void **state) {
    const struct place *place = *state;
    char path[256];
    char alias[256];
    (void)snprintf(alias, sizeof alias, "%s/alias", place->folder->path);
    assert_int_equal(symlink("root", alias), 0);
    static const char *const spellings[] = {"%s/docs/page", "%s//docs/./page/", "/%s/docs/page"};
    for (size_t i = 0; i < LENGTH(spellings); i++) {
        const char *roots[] = {place->root, alias};
        for (size_t j = 0; j < 2; j++) {
            (void)snprintf(path, sizeof path, spellings[i], roots[j]); /* NOLINT */
            struct answer answer = check_path_as(place, roots[j], path, BS_FOLLOW_FINAL);
            assert_true(answer.allowed);
            assert_string_equal(answer.path, "docs/page");
            assert_string_equal(answer.real, "docs/page");
        }
    }
    /* The path uses the real name of the root, while the root was given by another name. */
    (void)snprintf(path, sizeof path, "%s/secret/key", place->root);
    struct answer answer = check_path_as(place, alias, path, BS_FOLLOW_FINAL);
    assert_false(answer.allowed);
    assert_string_equal(answer.rule, "secret/**");
    assert_string_equal(check_path(place, place->root).path, ".");
}

static void other_absolute_paths_are_outside(void **state) {
    const struct place *place = *state;
    char path[256];
    (void)snprintf(path, sizeof path, "%s-not/x", place->root);
    const char *const paths[] = {path, "/", "/etc/passwd", "/~/x"};
    for (size_t i = 0; i < LENGTH(paths); i++) {
        struct answer answer = check_path(place, paths[i]);
        assert_int_equal(answer.code, BS_OK);
        assert_false(answer.allowed);
        assert_string_equal(answer.rule, BS_OUTSIDE_WORKSPACE);
        assert_string_equal(answer.real, "outside");
        assert_string_equal(answer.path, paths[i]);
    }
}

static void invalid_paths_are_refused(void **state) {
    const struct place *place = *state;
    char path[256];
    (void)snprintf(path, sizeof path, "%s/../root/docs", place->root);
    const char *const paths[] = {"",      "..", "docs/../secret/key", path, "/etc/../etc", "a\\b",
                                 "/a\\b", " a"};
    for (size_t i = 0; i < LENGTH(paths); i++)
        assert_int_equal(check_path(place, paths[i]).code, BS_E_INVALID);
    assert_int_equal(check_path_as(place, "relative", "a", BS_FOLLOW_FINAL).code, BS_E_INVALID);
    assert_int_equal(check_path_as(place, "/no/such/root", "a", BS_FOLLOW_FINAL).code, BS_E_IO);
    (void)snprintf(path, sizeof path, "%s/docs/page", place->root);
    assert_int_equal(check_path_as(place, path, "a", BS_FOLLOW_FINAL).code, BS_E_IO);
}

static void a_place_with_an_invalid_name_is_refused(void **state) {
    const struct place *place = *state;
    add_link(place, "link", "docs/a\\b");
    struct answer answer = check_path(place, "link");
    assert_int_equal(answer.code, BS_E_INVALID);
    assert_non_null(strstr(answer.err.message, "really lies"));
}

static void the_path_is_checked_before_its_place(void **state) {
    const struct place *place = *state;
    add_link(place, "secret/out", "/etc");
    add_link(place, "secret/in", "../docs/page");
    struct answer answer = check_path(place, "secret/out");
    assert_false(answer.allowed);
    assert_string_equal(answer.rule, "secret/**");
    assert_string_equal(answer.real, "outside");
    answer = check_path(place, "secret/in");
    assert_false(answer.allowed);
    assert_string_equal(answer.real, "docs/page");
}

/* Replace the profile of the set-up by one of a policy with these members of `spec`. */
static void use_profile(struct place *place, const char *spec, const char *name, unsigned flags) {
    bs_profile_free(place->profile);
    place->profile = NULL;
    place->profile = profile_of(spec, NULL, name, flags);
}

static void assert_denied_by(const struct place *place, const char *path, const char *rule) {
    struct answer answer = check_path(place, path);
    if (answer.code != BS_OK)
        fail_msg("%s: %s", path, answer.err.message);
    assert_false(answer.allowed);
    assert_string_equal(answer.rule, rule);
}

static void a_deny_of_a_link_denies_the_place_it_leads_to(void **state) {
    struct place *place = *state;
    add_link(place, "link", "secret");
    add_link(place, "to-key", "secret/key");
    add_link(place, "docs/up", "../secret");
    static const char *const denies[] = {"link/**", "to-key",    "docs/up/key",
                                         "link/k*", "docs/up/*", "link/key"};
    for (size_t i = 0; i < LENGTH(denies); i++) {
        char lists[64];
        (void)snprintf(lists, sizeof lists, "'denyRead':['%s']", denies[i]);
        use_profile(place, lists, NULL, 0);
        assert_denied_by(place, "secret/key", denies[i]);
        assert_true(check_path(place, "docs/page").allowed);
        assert_true(check_path(place, "secret/other").allowed ==
                    (strcmp(denies[i], "link/**") != 0 && strcmp(denies[i], "docs/up/*") != 0));
    }
}

static void a_deny_of_a_link_to_the_root_denies_the_root(void **state) {
    struct place *place = *state;
    add_link(place, "docs/top", "..");
    use_profile(place, "'denyRead':['docs/top/secret/**','docs/top']", NULL, 0);
    assert_denied_by(place, "secret/key", "docs/top/secret/**");
    assert_denied_by(place, ".", "docs/top");
    assert_true(check_path(place, "docs/page").allowed);
}

static void a_deny_of_a_dangling_link_denies_its_target(void **state) {
    struct place *place = *state;
    add_link(place, "link", "docs/new");
    use_profile(place, "'denyRead':['link/**']", NULL, 0);
    assert_denied_by(place, "docs/new/file", "link/**");
}

static void a_deny_that_leads_nowhere_denies_no_other_place(void **state) {
    struct place *place = *state;
    add_link(place, "self", "self");
    add_link(place, "out", "../outside");
    add_link(place, "docs/star", "../secret");
    use_profile(place, "'denyRead':['self/**','out/**','docs/page/x','missing/x','docs/st*/key']",
                NULL, 0);
    assert_true(check_path(place, "secret/key").allowed);
    assert_true(check_path(place, "docs/page").allowed);
}

static void a_deny_of_a_link_counts_at_its_place_of_the_list(void **state) {
    struct place *place = *state;
    add_link(place, "link", "secret");
    use_profile(place, "'fsProfiles':{'p':{'read':['**','!link/**','secret/key'],'modify':[]}}",
                "p", 0);
    assert_true(check_path(place, "secret/key").allowed);
    assert_denied_by(place, "secret/other", "link/**");
}

static void an_exception_cancels_the_denies_of_links_before_it(void **state) {
    struct place *place = *state;
    struct bs_resolved resolved;
    struct bs_error err = BS_ERROR_INIT;
    add_link(place, "link", "secret");
    use_profile(place, "'denyModify':['link/**','secret/**','!secret/key']", NULL, 0);
    int code = bs_check_resolved(place->profile, place->root, BS_OP_MODIFY, "secret/key", 10,
                                 BS_FOLLOW_FINAL, &resolved, &err);
    assert_true(answered(code, &resolved, &err).allowed);
    use_profile(place, "'denyModify':['secret/**','!secret/key','link/**']", NULL, 0);
    code = bs_check_resolved(place->profile, place->root, BS_OP_MODIFY, "secret/key", 10,
                             BS_FOLLOW_FINAL, &resolved, &err);
    struct answer answer = answered(code, &resolved, &err);
    assert_false(answer.allowed);
    assert_string_equal(answer.rule, "link/**");
}

static void a_deny_of_a_link_folds_at_the_place_it_leads_to(void **state) {
    struct place *place = *state;
    add_link(place, "link", "secret");
    use_profile(place, "'denyRead':['link/Key']", NULL, BS_FOLD);
    assert_denied_by(place, "secret/key", "link/Key");
    assert_denied_by(place, "SECRET/KEY", "link/Key");
}

/* The kernel follows a link of /proc to an object, whatever the text of the link is. */
static void a_link_of_proc_leads_outside(void **state) {
    const struct place *place = *state;
    add_link(place, "cwd", "/proc/self/cwd");
    assert_lies_at(place, "cwd/docs/page", "outside");
}

static void a_name_too_long_for_the_kernel_is_an_error(void **state) {
    const struct place *place = *state;
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(check_path(place, name).code, BS_E_IO);
}

static void an_open_directory_can_be_the_root(void **state) {
    const struct place *place = *state;
    struct bs_resolved resolved;
    struct bs_error err = BS_ERROR_INIT;
    add_link(place, "link", "secret/key");
    int fd = open(place->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    int code = bs_check_resolved_at(place->profile, fd, BS_OP_READ, "link", 4, BS_FOLLOW_FINAL,
                                    &resolved, &err);
    struct answer answer = answered(code, &resolved, &err);
    assert_false(answer.allowed);
    assert_string_equal(answer.real, "secret/key");
    code = bs_check_resolved_at(place->profile, fd, BS_OP_READ, "/docs", 5, BS_FOLLOW_FINAL,
                                &resolved, &err);
    answer = answered(code, &resolved, &err);
    assert_string_equal(answer.rule, BS_OUTSIDE_WORKSPACE);
    code = bs_check_resolved_at(place->profile, -1, BS_OP_READ, "docs", 4, BS_FOLLOW_FINAL,
                                &resolved, &err);
    assert_int_equal(code, BS_E_IO);
    (void)close(fd);
}

/* The check is made with every number of free descriptors, from 0 on. */
static void without_descriptors_a_check_is_an_error(void **state) {
    const struct place *place = *state;
    char target[256];
    (void)snprintf(target, sizeof target, "%s/docs/deep/../../secret/key", place->root);
    add_link(place, "absolute", target);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    unsigned failures = 0;
    /* More than all open descriptors, because the test may have inherited some from its parent. */
    const rlim_t enough = (rlim_t)first_free_above_all() + 64;
    struct answer answer = {.code = BS_E_IO};
    for (rlim_t most = 3; most < enough && answer.code != BS_OK; most++) {
        const struct rlimit tight = {most, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
        answer = check_path(place, "absolute");
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (answer.code != BS_OK)
            assert_int_equal(answer.err.os_error, EMFILE);
        failures += answer.code == BS_E_IO;
    }
    assert_true(failures >= 3);
    assert_int_equal(answer.code, BS_OK);
    assert_string_equal(answer.real, "secret/key");
}

#define in_a_place(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_place(a_path_without_links_is_its_own_place),
        in_a_place(links_are_resolved_from_their_own_directory),
        in_a_place(a_path_that_leaves_the_root_is_outside_unless_it_comes_back),
        in_a_place(missing_components_keep_their_names),
        in_a_place(parent_does_not_follow_the_last_component),
        in_a_place(forty_links_are_followed_and_no_more),
        in_a_place(a_loop_is_an_error),
        in_a_place(absolute_paths_inside_the_root_count_as_relative),
        in_a_place(other_absolute_paths_are_outside),
        in_a_place(invalid_paths_are_refused),
        in_a_place(a_place_with_an_invalid_name_is_refused),
        in_a_place(the_path_is_checked_before_its_place),
        in_a_place(a_deny_of_a_link_denies_the_place_it_leads_to),
        in_a_place(a_deny_of_a_link_to_the_root_denies_the_root),
        in_a_place(a_deny_of_a_dangling_link_denies_its_target),
        in_a_place(a_deny_that_leads_nowhere_denies_no_other_place),
        in_a_place(a_deny_of_a_link_counts_at_its_place_of_the_list),
        in_a_place(an_exception_cancels_the_denies_of_links_before_it),
        in_a_place(a_deny_of_a_link_folds_at_the_place_it_leads_to),
        in_a_place(a_link_of_proc_leads_outside),
        in_a_place(a_name_too_long_for_the_kernel_is_an_error),
        in_a_place(an_open_directory_can_be_the_root),
        in_a_place(without_descriptors_a_check_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
