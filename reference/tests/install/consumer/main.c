/* A program outside of the project. It calls one function of each room, so that all dependencies of
 * the library must be linked. */
#include <stdio.h>
#include <string.h>

#include <boxspec/exec.h>
#include <boxspec/profile.h>
#include <boxspec/sbpl.h>
#include <boxspec/version.h>

static const char policy[] = "{\"schemaVersion\": 2, \"kind\": \"Policy\", \"metadata\": "
                             "{\"name\": \"p\"}, \"spec\": {\"denyModify\": [\"stra\\u00dfe\"]}}";

static int failed(const char *what, const struct bs_error *err) {
    (void)fprintf(stderr, "%s: %s\n", what, err->message);
    return 1;
}

static int run_a_program(void) {
    const struct bs_exec_request request = {.program = "true"};
    struct bs_exec_result result = BS_EXEC_RESULT_INIT;
    struct bs_error err = BS_ERROR_INIT;
    int code = bs_exec_run(&request, &result, &err);
    bool success = result.success;
    bs_exec_result_clear(&result);
    return code == BS_OK && success ? 0 : failed("exec", &err);
}

static int compile_a_profile(void) {
    const struct bs_policy_text text = {policy, strlen(policy), BS_POLICY_JSON};
    struct bs_policy_report report = BS_POLICY_REPORT_INIT;
    struct bs_sbpl_input input = BS_SBPL_INPUT_INIT;
    struct bs_sbpl sbpl = BS_SBPL_INIT;
    struct bs_error err = BS_ERROR_INIT;
    struct bs_policy *loaded = NULL;
    struct bs_profile *profile = NULL;
    int code = bs_policy_load(&text, NULL, &loaded, &report, &err);
    if (code == BS_OK)
        code = bs_profile_compile(loaded, NULL, BS_FOLD, &profile, &err);
    input.profile = profile;
    input.root = "/private/w";
    if (code == BS_OK)
        code = bs_sbpl_compile(&input, &sbpl, &err);
    bs_sbpl_clear(&sbpl);
    bs_profile_free(profile);
    bs_policy_free(loaded);
    bs_policy_report_clear(&report);
    return code == BS_OK ? 0 : failed("policy and sbpl", &err);
}

int main(void) {
    int status = run_a_program() | compile_a_profile();
    if (status == 0)
        (void)printf("boxspec %s works\n", BOXSPEC_VERSION);
    return status;
}
