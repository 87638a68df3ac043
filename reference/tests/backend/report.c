/* Tests that long lists in a report are complete and that their memory is freed. */
#define _GNU_SOURCE
#include <boxspec/backend.h>

#include <stdio.h>
#include <string.h>

#include "backend/plan/rules.h"
#include "backend/session/report.h"
#include "support/append.h"
#include "support/harness.h"
#include "support/profiles.h"

enum { MANY = 50000, MOST_BYTES = 32 * 1024 * 1024 };

static size_t allocated_bytes; /* bytes requested from malloc */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size) {
    allocated_bytes += size;
    return __real_malloc(size);
}

typedef bool add_one(struct bs_backend_report *report, unsigned i);

static bool add_link(struct bs_backend_report *report, unsigned i) {
    char name[32];
    (void)snprintf(name, sizeof name, "name-%u", i);
    return bs_report_hard_link(report, "/root", name);
}

static bool add_warning(struct bs_backend_report *report, unsigned i) {
    return bs_report_warn(report, "warning %u", i);
}

static bool add_reason(struct bs_backend_report *report, unsigned i) {
    return bs_report_reason(report, BS_ASPECT_IPC, BS_CLAIM_PARTIAL, "reason %u", i);
}

static bool add_violation(struct bs_backend_report *report, unsigned i) {
    char name[32];
    (void)snprintf(name, sizeof name, "name-%u", i);
    return bs_report_violation(report, "/root", name, "rule");
}

static bool add_unenforced(struct bs_backend_report *report, unsigned i) {
    char rule[32];
    (void)snprintf(rule, sizeof rule, "%u", i);
    return bs_report_unenforced(report, rule, "why");
}

static void add_many(struct bs_backend_report *report, add_one *add, unsigned n) {
    allocated_bytes = 0;
    for (unsigned i = 0; i < n; i++)
        assert_true(add(report, i));
    assert_in_range(allocated_bytes, 0, MOST_BYTES);
}

static void memory_of_lists_grows_with_their_content(void **state) {
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    (void)state;
    add_many(&report, add_link, MANY);
    add_many(&report, add_warning, MANY);
    add_many(&report, add_reason, MANY);
    add_many(&report, add_violation, MANY);
    add_many(&report, add_unenforced, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        char expected[32];
        (void)snprintf(expected, sizeof expected, "/root/name-%u", i);
        assert_string_equal(report.hard_links[i], expected);
        assert_string_equal(report.violations[i].path, expected);
        (void)snprintf(expected, sizeof expected, "warning %u", i);
        assert_string_equal(report.warnings[i], expected);
        (void)snprintf(expected, sizeof expected, "reason %u", i);
        assert_string_equal(report.aspects[BS_ASPECT_IPC].reasons[i], expected);
    }
    assert_int_equal(report.n_hard_links, MANY);
    assert_int_equal(report.n_unenforced, MANY);
    bs_backend_report_clear(&report);
}

/* A backend may fill the struct itself, with a list that is not in the arena of the report. */
static void a_list_of_the_backend_is_not_modified(void **state) {
    static const char *theirs[] = {"one", "two", "three", "behind it"};
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    (void)state;
    report.warnings = theirs;
    report.n_warnings = 3;
    assert_true(bs_report_warn(&report, "ours"));
    assert_true(bs_report_warn(&report, "ours"));
    assert_int_equal(report.n_warnings, 5);
    assert_string_equal(report.warnings[2], "three");
    assert_string_equal(report.warnings[4], "ours");
    assert_string_equal(theirs[3], "behind it");
    bs_backend_report_clear(&report);
}

static void a_rule_of_the_list_of_the_backend_is_not_repeated(void **state) {
    struct bs_unenforced theirs[] = {{NULL, "a", "why"}, {NULL, "b", "why"}};
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    (void)state;
    report.unenforced = theirs;
    report.n_unenforced = 2;
    assert_true(bs_report_unenforced(&report, "b", "why"));
    assert_int_equal(report.n_unenforced, 2);
    assert_true(bs_report_unenforced(&report, "b", "another reason"));
    assert_true(bs_report_unenforced(&report, "b", "another reason"));
    assert_true(bs_report_unenforced(&report, "a", "why"));
    assert_int_equal(report.n_unenforced, 3);
    assert_string_equal(report.unenforced[2].why, "another reason");
    bs_backend_report_clear(&report);
}

enum { LONG = 9000 };

/* A path may have 4,095 bytes, and a rule may be even longer. */
static void long_paths_are_kept_whole(void **state) {
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    char name[LONG + 1];
    (void)state;
    memset(name, 'x', LONG);
    name[LONG] = '\0';
    assert_true(bs_report_warn(&report, "%s!", name));
    assert_true(bs_report_reason(&report, BS_ASPECT_IPC, BS_CLAIM_PARTIAL, "%s!", name));
    assert_int_equal(strlen(report.warnings[0]), LONG + 1);
    assert_int_equal(strlen(report.aspects[BS_ASPECT_IPC].reasons[0]), LONG + 1);
    bs_backend_report_clear(&report);
}

static void long_rules_are_kept_whole(void **state) {
    struct bs_backend_report report = BS_BACKEND_REPORT_INIT;
    char spec[LONG + 200] = "'denyModify': ['";
    const struct bs_backend_context context = BS_BACKEND_CONTEXT_INIT;
    struct bs_unenforced_rules lacking;
    (void)state;
    for (int i = 0; i < LONG / 2; i++)
        append(spec, sizeof spec, "a/");
    append(spec, sizeof spec, "a'], 'fsProfiles': {'p': {'read': ['**'], 'modify': ['**']}}");
    struct bs_profile *profile = profile_of(spec, NULL, "p", 0);
    assert_true(bs_rules_of_grants(profile, &context, &report, &lacking));
    assert_int_equal(report.n_unenforced, 1);
    assert_int_equal(strlen(report.unenforced[0].rule), LONG + 1);
    bs_profile_free(profile);
    bs_backend_report_clear(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_lists_grows_with_their_content),
        cmocka_unit_test(a_list_of_the_backend_is_not_modified),
        cmocka_unit_test(a_rule_of_the_list_of_the_backend_is_not_repeated),
        cmocka_unit_test(long_paths_are_kept_whole),
        cmocka_unit_test(long_rules_are_kept_whole),
    };
    return cmocka_run_group_tests_name("backend/report", tests, NULL, NULL);
}
