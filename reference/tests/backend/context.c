#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/session/context.h"
#include "backend/session/links.h"
#include "support/folder.h"
#include "support/harness.h"

static bool has_no_memory; /* realpath fails */

char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);

char *__wrap_realpath(const char *path, char *resolved) {
    if (!has_no_memory)
        return __real_realpath(path, resolved);
    errno = ENOMEM;
    return NULL;
}

static int egress(const char *entry, enum bs_confine confine) {
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    context.egress = &entry;
    context.n_egress = 1;
    context.confine = confine;
    int code = bs_context_check(&context, &err);
    if (code != BS_OK)
        assert_non_null(strstr(err.message, "egress: "));
    return code;
}

static void an_egress_entry_needs_host_and_port(void **state) {
    (void)state;
    static const char *const good[] = {"*", "a.example:443", "127.0.0.1:1", "[::1]:65535"};
    static const char *const wrong[] = {"",        "a.example",  "a:0",  "a:65536", "a:-1",
                                        "a: 1",    ":80",        "**",   "[::1]",   "[]:1",
                                        "::1:443", "http://a:1", "a:1x", "a b:1",   "a:000001"};
    for (size_t i = 0; i < LENGTH(good); i++)
        assert_int_equal(egress(good[i], BS_CONFINE_REPO_WRITE), BS_OK);
    for (size_t i = 0; i < LENGTH(wrong); i++)
        assert_int_equal(egress(wrong[i], BS_CONFINE_REPO_WRITE), BS_E_INVALID);
}

static void egress_without_network_is_refused(void **state) {
    (void)state;
    assert_int_equal(egress("*", BS_CONFINE_NO_NETWORK), BS_E_INVALID);
    assert_int_equal(egress("a:1", BS_CONFINE_CI_ONLY), BS_E_INVALID);
}

static int resolve(const char *root, const char *cwd, struct bs_resolved_context *resolved) {
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    context.root = root;
    context.cwd = cwd;
    return bs_context_resolve(&context, resolved, NULL);
}

static void a_root_that_is_a_link_is_resolved(void **state) {
    const struct folder *folder = *state;
    struct bs_resolved_context resolved;
    char link[128];
    char real[128];
    folder_add_folder(folder, "ws");
    assert_int_equal(symlinkat("ws", folder->fd, "link"), 0);
    (void)snprintf(link, sizeof link, "%s/link", folder->path);
    (void)snprintf(real, sizeof real, "%s/ws", folder->path);
    assert_int_equal(resolve(link, NULL, &resolved), BS_OK);
    assert_string_equal(resolved.context.root, real);
    bs_context_clear(&resolved);
}

static void a_root_that_is_not_a_directory_is_refused(void **state) {
    const struct folder *folder = *state;
    struct bs_resolved_context resolved;
    char file[128];
    folder_add_file(folder, "file", "", 0600);
    (void)snprintf(file, sizeof file, "%s/file", folder->path);
    assert_int_equal(resolve(file, NULL, &resolved), BS_E_INVALID);
    assert_int_equal(resolve("relative", NULL, &resolved), BS_E_INVALID);
    assert_int_equal(resolve("/no/such/root", NULL, &resolved), BS_E_INVALID);
    assert_int_equal(resolve("/", NULL, &resolved), BS_E_INVALID);
}

static void a_cwd_that_leads_out_of_the_root_is_refused(void **state) {
    const struct folder *folder = *state;
    struct bs_resolved_context resolved;
    char root[128];
    char out[160];
    char fd[64];
    folder_add_folder(folder, "ws");
    assert_int_equal(symlinkat("/", folder->fd, "ws/out"), 0);
    (void)snprintf(root, sizeof root, "%s/ws", folder->path);
    (void)snprintf(out, sizeof out, "%s/out", root);
    (void)snprintf(fd, sizeof fd, "/proc/self/fd/%d", folder->fd);
    assert_int_equal(resolve(root, out, &resolved), BS_E_INVALID);
    assert_int_equal(resolve(root, fd, &resolved), BS_E_INVALID);
    assert_int_equal(resolve(root, folder->path, &resolved), BS_E_INVALID);
    assert_int_equal(resolve(root, root, &resolved), BS_OK);
    bs_context_clear(&resolved);
}

static void a_sibling_with_a_longer_name_is_not_below(void **state) {
    (void)state;
    assert_true(bs_is_below("/a/b", "/a"));
    assert_true(bs_is_below("/a", "/a"));
    assert_false(bs_is_below("/ab", "/a"));
}

static bool is_chosen(const char *link, const void *data) { return strcmp(link, data) == 0; }

static bool passes(const struct folder *folder, const char *path, const char *link) {
    char whole[PATH_MAX];
    char place[PATH_MAX];
    (void)snprintf(whole, sizeof whole, "%s/%s", folder->path, path);
    (void)snprintf(place, sizeof place, "%s/%s", folder->path, link);
    return bs_link_may_be_replaced(whole, is_chosen, place);
}

static void each_link_on_the_way_is_found(void **state) {
    const struct folder *folder = *state;
    folder_add_folder(folder, "out");
    folder_add_folder(folder, "ws");
    assert_int_equal(symlinkat("../out", folder->fd, "ws/inner"), 0);
    assert_int_equal(symlinkat("ws/inner", folder->fd, "outer"), 0);
    assert_true(passes(folder, "outer", "outer"));
    assert_true(passes(folder, "outer", "ws/inner"));
    assert_true(passes(folder, "ws/inner/below/missing", "ws/inner"));
    assert_true(passes(folder, "ws/../outer/../out", "ws/inner"));
    assert_false(passes(folder, "out", "ws/inner"));
    assert_false(passes(folder, "ws/missing", "ws/inner"));
}

/* A directory that cannot be resolved must not count as one that does not exist. */
static void a_lack_of_memory_hides_no_directory(void **state) {
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    const struct folder *folder = *state;
    char *cache = NULL;
    context.root = folder->path;
    assert_int_equal(bs_context_check_dir(&context, "/", NULL), BS_E_INVALID);
    assert_int_equal(bs_context_check_dir(&context, "/no/such/dir", NULL), BS_OK);
    assert_int_equal(setenv("HOME", folder->path, 1), 0);
    assert_true(bs_context_cache(NULL, &cache));
    has_no_memory = true;
    assert_int_equal(bs_context_check_dir(&context, "/", NULL), BS_E_EXECUTION);
    assert_false(bs_context_cache(NULL, &cache));
    has_no_memory = false;
    assert_null(cache);
}

/* The path becomes longer than PATH_MAX when its first link is followed. */
static void a_path_that_is_too_long_counts_as_replaceable(void **state) {
    const struct folder *folder = *state;
    char path[PATH_MAX] = "long";
    char text[PATH_MAX] = "";
    folder_add_folder(folder, "ws");
    folder_add_folder(folder, "out");
    assert_int_equal(symlinkat("../out", folder->fd, "ws/inner"), 0);
    for (int i = 0; i < 1000; i++) {
        strcat(text, "./");
        strcat(path, "/.");
    }
    for (int i = 0; i < 400; i++)
        strcat(path, "/.");
    assert_int_equal(symlinkat(strcat(text, "ws"), folder->fd, "long"), 0);
    assert_true(passes(folder, strcat(path, "/inner"), "ws/inner"));
}

static void links_without_an_end_count_as_replaceable(void **state) {
    const struct folder *folder = *state;
    assert_int_equal(symlinkat("b", folder->fd, "a"), 0);
    assert_int_equal(symlinkat("a", folder->fd, "b"), 0);
    assert_true(passes(folder, "a", "none"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_egress_entry_needs_host_and_port),
        cmocka_unit_test(egress_without_network_is_refused),
        cmocka_unit_test_setup_teardown(a_root_that_is_a_link_is_resolved, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_root_that_is_not_a_directory_is_refused, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_cwd_that_leads_out_of_the_root_is_refused, folder_setup,
                                        folder_teardown),
        cmocka_unit_test(a_sibling_with_a_longer_name_is_not_below),
        cmocka_unit_test_setup_teardown(each_link_on_the_way_is_found, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_lack_of_memory_hides_no_directory, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(a_path_that_is_too_long_counts_as_replaceable, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(links_without_an_end_count_as_replaceable, folder_setup,
                                        folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
