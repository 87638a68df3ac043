#define _GNU_SOURCE
#include "support/profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

char *policy_text(const char *spec) {
    char *text = NULL;
    assert_true(asprintf(&text,
                         "{'schemaVersion':2,'kind':'Policy','metadata':{'name':'test'},"
                         "'spec':{%s}}",
                         spec) > 0);
    for (char *at = text; (at = strchr(at, '\'')) != NULL;)
        *at = '"';
    return text;
}

struct bs_profile *profile_of(const char *spec, const char *workspace, const char *name,
                              unsigned flags) {
    char *texts[2] = {policy_text(spec), workspace != NULL ? policy_text(workspace) : NULL};
    struct bs_policy_text global = {texts[0], strlen(texts[0]), BS_POLICY_JSON};
    struct bs_policy_text over = {texts[1], workspace != NULL ? strlen(texts[1]) : 0,
                                  BS_POLICY_JSON};
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_policy *policy = NULL;
    struct bs_profile *profile = NULL;
    if (bs_policy_load(&global, workspace != NULL ? &over : NULL, &policy, &report, &err) != BS_OK)
        fail_msg("%s: %s", texts[0], err.message);
    if (bs_profile_compile(policy, name, flags, &profile, &err) != BS_OK)
        fail_msg("%s: %s", texts[0], err.message);
    bs_policy_free(policy);
    bs_policy_report_clear(&report);
    free(texts[0]);
    free(texts[1]);
    return profile;
}

static void assert_answer(const struct bs_profile *profile, enum bs_op op, const char *path,
                          bool allowed, const char *rule) {
    struct bs_decision decision;
    struct bs_error err = BS_ERROR_INIT;
    if (bs_profile_check(profile, op, path, strlen(path), &decision, &err) != BS_OK)
        fail_msg("`%s`: %s", path, err.message);
    if (decision.allowed != allowed || strcmp(decision.matched_rule, rule) != 0)
        fail_msg("`%s`: %s by `%s`, not by `%s`", path, decision.allowed ? "allowed" : "denied",
                 decision.matched_rule, rule);
    assert_int_equal(decision.matched_rule_len, strlen(rule));
    bs_decision_clear(&decision);
}

void assert_allowed(const struct bs_profile *profile, enum bs_op op, const char *path,
                    const char *rule) {
    assert_answer(profile, op, path, true, rule);
}

void assert_denied(const struct bs_profile *profile, enum bs_op op, const char *path,
                   const char *rule) {
    assert_answer(profile, op, path, false, rule);
}
