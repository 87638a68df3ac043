/* Tests to which place a path leads, and decisions about that place. */
#define _GNU_SOURCE
#include <boxspec/profile.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/workspace.h"
#include "support/harness.h"
#include "support/holdings.h"

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
    /* A `..` after a component that does not exist leads back, and the walk continues in the file
     * system. */
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

/* Sixteen names of 255 bytes, with the slashes between them, have PATH_MAX - 1 bytes. */
static void a_path_that_the_system_cannot_look_up_is_an_error(void **state) {
    const struct place *place = *state;
    char path[PATH_MAX];
    char longer[PATH_MAX + 1];
    memset(path, 'n', sizeof path);
    for (size_t at = NAME_MAX; at < PATH_MAX - 1; at += NAME_MAX + 1)
        path[at] = '/';
    path[PATH_MAX - 1] = '\0';
    assert_true(check_path(place, path).allowed);
    (void)snprintf(longer, sizeof longer, "docs/%s", path + 4);
    struct answer answer = check_path(place, longer);
    assert_int_equal(answer.code, BS_E_IO);
    assert_int_equal(answer.err.os_error, ENAMETOOLONG);
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
    /* The path uses the real name of the root, but the root was given by another name. */
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
    assert_non_null(strstr(answer.err.message, "real location"));
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

/* The kernel follows a link of /proc to an object, and does not use the text of the link. */
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

/* Each check is made with one free descriptor more than the check before. The first check has no
 * free descriptor. */
static void without_descriptors_a_check_is_an_error(void **state) {
    const struct place *place = *state;
    char target[256];
    (void)snprintf(target, sizeof target, "%s/docs/deep/../../secret/key", place->root);
    add_link(place, "absolute", target);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    unsigned failures = 0;
    /* more than all open descriptors, because the test may have inherited some from its parent */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_place(a_path_without_links_is_its_own_place),
        in_a_place(links_are_resolved_from_their_own_directory),
        in_a_place(a_path_that_leaves_the_root_is_outside_unless_it_comes_back),
        in_a_place(missing_components_keep_their_names),
        in_a_place(parent_does_not_follow_the_last_component),
        in_a_place(forty_links_are_followed_and_no_more),
        in_a_place(a_path_that_the_system_cannot_look_up_is_an_error),
        in_a_place(a_loop_is_an_error),
        in_a_place(absolute_paths_inside_the_root_count_as_relative),
        in_a_place(other_absolute_paths_are_outside),
        in_a_place(invalid_paths_are_refused),
        in_a_place(a_place_with_an_invalid_name_is_refused),
        in_a_place(the_path_is_checked_before_its_place),
        in_a_place(a_link_of_proc_leads_outside),
        in_a_place(a_name_too_long_for_the_kernel_is_an_error),
        in_a_place(an_open_directory_can_be_the_root),
        in_a_place(without_descriptors_a_check_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
