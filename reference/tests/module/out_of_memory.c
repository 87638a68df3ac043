/* Makes each allocation of an execution fail once. Leaks are not counted here but left to the
 * address sanitizer, because the C library also allocates memory for its caller, for example a
 * resolved path. The wrappers see only how that memory is freed. */
#define _GNU_SOURCE
#include <boxspec/module.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/allocations.h"
#include "support/folder.h"
#include "support/harness.h"
#include "support/holdings.h"

static void assert_only_the_module(const struct folder *folder) {
    struct dirent **names = NULL;
    int n = scandir(folder->path, &names, NULL, alphasort);
    assert_int_equal(n, 3);
    assert_string_equal(names[2]->d_name, "module");
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

static void each_failed_allocation_is_an_error_or_harmless(void **state) {
    const struct folder *folder = *state;
    folder_add_file(folder, "module", "#!/bin/sh\nexec cat\n", 0755);
    struct bs_module_request request = BS_MODULE_REQUEST_INIT;
    request.id = "module";
    request.input = "{\"a\":[1,2,{\"b\":\"text\"}]}";
    request.input_len = strlen(request.input);
    request.extensions_root = folder->path;
    unsigned failures = 0;
    assert_int_equal(setenv("TMPDIR", folder->path, 1), 0);
    bool reached = true;
    for (unsigned n = 1; reached; n++) {
        struct holdings before = holdings_now();
        struct bs_module_result result;
        struct bs_error err = BS_ERROR_INIT;
        allocations.count = 0;
        allocations.fail_at = n;
        int code = bs_module_execute(&request, &result, &err);
        reached = allocations.count >= n;
        allocations.fail_at = 0;
        assert_true(n < 1000);
        if (code == BS_OK && result.outcome == BS_MODULE_VALUE) {
            assert_string_equal(result.value.data, request.input);
        } else {
            failures++;
            assert_true(reached);
            assert_int_equal(code, BS_E_EXECUTION);
            assert_int_equal(err.os_error, ENOMEM);
        }
        bs_module_result_clear(&result);
        assert_nothing_left(before);
        assert_only_the_module(folder);
    }
    assert_true(failures > 10);
}

int main(int argc, char **argv) {
    bs_module_runner_main(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        each_failed_allocation_is_an_error_or_harmless, folder_setup, folder_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
