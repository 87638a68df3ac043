/* Tests the access that a policy requires of files with several names, and that the search for
 * names ends at its time limit. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/plan/access.h"
#include "backend/plan/hard_links.h"
#include "base/sys.h"
#include "support/folder.h"
#include "support/harness.h"
#include "support/profiles.h"

static const char spec[] = "'denyRead': ['link/out/**', 'l?/key'], 'denyModify': ['d/**'], "
                           "'fsProfiles': {'p': {'read': ['**'], 'modify': ['**']}}";

struct search {
    struct bs_profile *profile;
    struct bs_backend_context context;
    struct bs_names names;
};

/* Collect the names of a workspace with the file d/key, which has a second hard link, and with
 * links: one to the directory `d`, one in `d` to a place outside, and one to the root. */
static void collect(const struct folder *folder, struct search *search, uint64_t until) {
    *search = (struct search){.profile = profile_of(spec, NULL, "p", 0),
                              .context = BS_BACKEND_CONTEXT_INIT};
    search->context.root = folder->path;
    search->names =
        (struct bs_names){.profile = search->profile, .context = &search->context, .until = until};
    folder_add_folder(folder, "d");
    folder_add_file(folder, "d/key", "x", 0600);
    assert_int_equal(linkat(folder->fd, "d/key", folder->fd, "hard", 0), 0);
    assert_int_equal(symlinkat("d", folder->fd, "link"), 0);
    assert_int_equal(symlinkat("/", folder->fd, "d/out"), 0);
    assert_int_equal(symlinkat("d", folder->fd, "ln"), 0);
    assert_int_equal(bs_names_collect(&search->names, -1, NULL), BS_OK);
}

static void clear(struct search *search) {
    bs_names_clear(&search->names);
    bs_profile_free(search->profile);
}

static enum bs_access access_to(const struct folder *folder, struct search *search,
                                const char *name) {
    struct stat st;
    assert_int_equal(fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return bs_names_access(&search->names, name, &st).access;
}

static void a_rule_holds_under_each_name_of_a_file(void **state) {
    const struct folder *folder = *state;
    struct search search;
    collect(folder, &search, BS_NEVER);
    assert_int_equal(access_to(folder, &search, "d/key"), BS_HIDDEN);
    assert_int_equal(access_to(folder, &search, "hard"), BS_HIDDEN);
    assert_false(search.names.incomplete);
    clear(&search);
}

/* The rule names the link by a path that leads through another link. */
static void a_link_is_denied_under_each_of_its_names(void **state) {
    const struct folder *folder = *state;
    struct search search;
    struct bs_link_denial denial;
    collect(folder, &search, BS_NEVER);
    assert_true(bs_names_denying_link(&search.names, BS_OP_READ, "d/out", &denial));
    assert_non_null(denial.entry);
    assert_string_equal(denial.entry->rule, "link/out/**");
    assert_ptr_equal(denial.replaceable, denial.entry);
    assert_true(bs_names_denying_link(&search.names, BS_OP_MODIFY, "d/out", &denial));
    assert_string_equal(denial.entry->rule, "d/**");
    assert_null(denial.replaceable);
    assert_true(bs_names_denying_link(&search.names, BS_OP_READ, "other", &denial));
    assert_null(denial.entry);
    clear(&search);
}

static void names_are_incomplete_after_the_time_limit(void **state) {
    const struct folder *folder = *state;
    struct search search;
    collect(folder, &search, 0);
    assert_true(search.names.incomplete);
    clear(&search);
}

static void a_search_for_names_ends_at_the_time_limit(void **state) {
    const struct folder *folder = *state;
    struct search search;
    collect(folder, &search, BS_NEVER);
    search.names.until = 0;
    (void)access_to(folder, &search, "d/key");
    assert_true(search.names.incomplete);
    clear(&search);
}

static bool has_warning(const struct bs_backend_report *report, const char *words) {
    bool found = false;
    for (size_t i = 0; i < report->n_warnings; i++)
        found = found || strstr(report->warnings[i], words) != NULL;
    return found;
}

static void a_search_for_hard_links_ends_at_the_time_limit(void **state) {
    enum { FILES = 300 };
    const struct folder *folder = *state;
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    char path[96];
    (void)snprintf(path, sizeof path, "%s/w", folder->path);
    folder_add_folder(folder, "w");
    folder_add_file(folder, "outside", "x", 0600);
    assert_int_equal(linkat(folder->fd, "outside", folder->fd, "w/inside", 0), 0);
    for (unsigned i = 0; i < FILES; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "w/%u", i);
        folder_add_file(folder, name, "", 0600);
    }
    assert_int_equal(bs_hard_links_report(path, NULL, -1, BS_NEVER, &report, NULL), BS_OK);
    assert_int_equal(report.n_hard_links, 1);
    assert_int_equal(report.n_warnings, 0);
    assert_int_equal(bs_hard_links_report(path, NULL, -1, 0, &report, NULL), BS_OK);
    assert_true(has_warning(&report, "too large to be searched for hard links"));
    bs_backend_report_clear(&report);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        in_a_folder(a_rule_holds_under_each_name_of_a_file),
        in_a_folder(a_link_is_denied_under_each_of_its_names),
        in_a_folder(names_are_incomplete_after_the_time_limit),
        in_a_folder(a_search_for_names_ends_at_the_time_limit),
        in_a_folder(a_search_for_hard_links_ends_at_the_time_limit),
    };
    return cmocka_run_group_tests_name("backend/access", tests, NULL, NULL);
}
