/* Tests that the mounts of a plan decide which rules are reported as not enforced, even if a file
 * has appeared after the mounts were planned. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/plan/entries.h"
#include "backend/plan/plan.h"
#include "backend/plan/planned.h"
#include "backend/plan/profile.h"
#include "backend/plan/rules.h"
#include "support/folder.h"
#include "support/harness.h"
#include "support/profiles.h"

static bool has_no_memory;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size) { return has_no_memory ? NULL : __real_malloc(size); }

static void add_mount(struct bs_buf *plan, const char *option, const char *from, const char *to) {
    bs_plan_arg(plan, option);
    if (from != NULL)
        bs_plan_arg(plan, from);
    bs_plan_arg(plan, to);
}

static void the_last_mount_above_a_path_decides(void **state) {
    struct bs_buf plan = BS_BUF_INIT;
    struct bs_planned planned = {NULL, 0, 0};
    (void)state;
    bs_plan_add(&plan, BS_PLAN_MODE, "bubblewrap");
    add_mount(&plan, "--ro-bind", "/", "/");
    bs_plan_add(&plan, BS_PLAN_OWN, "mounts");
    add_mount(&plan, "--bind", "/w", "/w");
    add_mount(&plan, "--ro-bind", "/w/kept", "/w/kept");
    add_mount(&plan, "--bind", "/w/kept/open", "/w/kept/open");
    add_mount(&plan, "--ro-bind", "/own/nothing", "/w/secret");
    add_mount(&plan, "--tmpfs", NULL, "/w/hidden");
    add_mount(&plan, "--ro-bind", "/w/hidden/seen", "/w/hidden/seen");
    add_mount(&plan, "--remount-ro", NULL, "/w/hidden");
    add_mount(&plan, "--chdir", NULL, "/");
    assert_true(bs_planned_read(&plan, "/own", &planned));
    assert_int_equal(bs_planned_access(&planned, "/etc/passwd"), BS_READ_ONLY);
    assert_int_equal(bs_planned_access(&planned, "/w/file"), BS_OPEN);
    assert_int_equal(bs_planned_access(&planned, "/w/kept/file"), BS_READ_ONLY);
    assert_int_equal(bs_planned_access(&planned, "/w/keptfile"), BS_OPEN);
    assert_int_equal(bs_planned_access(&planned, "/w/kept/open/file"), BS_OPEN);
    assert_int_equal(bs_planned_access(&planned, "/w/secret"), BS_HIDDEN);
    assert_int_equal(bs_planned_access(&planned, "/w/hidden/file"), BS_HIDDEN);
    assert_int_equal(bs_planned_access(&planned, "/w/hidden/seen"), BS_READ_ONLY);
    bs_planned_clear(&planned);
    bs_buf_clear(&plan);
}

static const char spec[] = "'denyRead': ['key'], 'denyModify': ['late', 'link'], 'fsProfiles': "
                           "{'p': {'read': ['**'], 'modify': ['**', '!again', 'again']}}";

/* Count the rules that these mounts do not enforce, and add them to the report. */
static struct bs_unenforced_rules check(const struct folder *folder, struct bs_buf *plan,
                                        struct bs_backend_report *report) {
    struct bs_profile *profile = profile_of(spec, NULL, "p", 0);
    struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    struct bs_planned planned = {NULL, 0, 0};
    struct bs_unenforced_rules rules;
    context.root = folder->path;
    assert_true(bs_planned_read(plan, "/own", &planned));
    assert_true(bs_rules_of_mounts(profile, &context, &planned, report, &rules));
    bs_planned_clear(&planned);
    bs_profile_free(profile);
    return rules;
}

static void a_file_without_a_mount_is_reported(void **state) {
    const struct folder *folder = *state;
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    struct bs_buf plan = BS_BUF_INIT;
    char path[96];
    static const char *const files[] = {"key", "late", "again"};
    for (size_t i = 0; i < LENGTH(files); i++)
        folder_add_file(folder, files[i], "x", 0600);
    assert_int_equal(symlinkat("late", folder->fd, "link"), 0);
    add_mount(&plan, "--bind", folder->path, folder->path);
    struct bs_unenforced_rules rules = check(folder, &plan, &report);
    assert_int_equal(rules.partial[BS_OP_READ], 1);
    assert_int_equal(rules.partial[BS_OP_MODIFY], 2);
    assert_int_equal(report.n_unenforced, 3);
    assert_string_equal(report.unenforced[0].why, "no mount protects it");
    (void)snprintf(path, sizeof path, "%s/key", folder->path);
    add_mount(&plan, "--ro-bind", path, path); /* it can still be read */
    (void)snprintf(path, sizeof path, "%s/late", folder->path);
    add_mount(&plan, "--ro-bind", path, path);
    rules = check(folder, &plan, &report);
    assert_int_equal(rules.partial[BS_OP_READ], 1);
    assert_int_equal(rules.partial[BS_OP_MODIFY], 0);
    (void)snprintf(path, sizeof path, "%s/key", folder->path);
    add_mount(&plan, "--ro-bind", "/own/nothing", path);
    rules = check(folder, &plan, &report);
    assert_int_equal(rules.partial[BS_OP_READ], 0);
    bs_backend_report_clear(&report);
    bs_buf_clear(&plan);
}

/* A path of this length needs memory. */
static void a_lack_of_memory_allows_more_in_a_report_only(void **state) {
    struct bs_profile *profile = profile_of(spec, NULL, "p", 0);
    static char dir[BS_CHECK_PATH_BYTES];
    (void)state;
    memset(dir, 'd', sizeof dir - 1);
    assert_true(bs_profile_allows_new(profile, BS_OP_MODIFY, dir));
    has_no_memory = true;
    bool allows = bs_profile_allows_new(profile, BS_OP_MODIFY, dir);
    bool may_allow = bs_profile_may_allow_new(profile, BS_OP_MODIFY, dir);
    has_no_memory = false;
    assert_false(allows);
    assert_true(may_allow);
    bs_profile_free(profile);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_mount_above_a_path_decides),
        cmocka_unit_test(a_lack_of_memory_allows_more_in_a_report_only),
        in_a_folder(a_file_without_a_mount_is_reported),
    };
    return cmocka_run_group_tests_name("backend/planned", tests, NULL, NULL);
}
