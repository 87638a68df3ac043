/* Tests the runner on a host where it cannot close the descriptors that the caller left open. */
#define _GNU_SOURCE
#include <boxspec/module.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/sys.h"
#include "module/lookup.h"
#include "support/folder.h"
#include "support/harness.h"

int __wrap_bs_close_from(int first, bool on_exec);

int __wrap_bs_close_from(int first, bool on_exec) {
    (void)first;
    (void)on_exec;
    return EMFILE;
}

static void a_module_that_would_inherit_the_callers_descriptors_is_not_started(void **state) {
    const struct folder *folder = *state;
    char message[512] = "";
    size_t len = 0;
    ssize_t n = 0;
    int ends[2];
    int status = 0;
    folder_add_file(folder, "module", "#!/bin/sh\necho it ran >&2\n", 0755);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = {(char[]){"runner"}, (char[]){BS_MODULE_RUNNER}, (char[]){"module"}, NULL};
        int input = openat(folder->fd, "input", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        bool good = setenv(BS_MODULE_ROOT, folder->path, 1) == 0 && write(input, "{}", 2) == 2 &&
                    lseek(input, 0, SEEK_SET) == 0 && dup2(input, 0) == 0 && dup2(ends[1], 2) == 2;
        if (good)
            bs_module_runner_main(3, argv);
        _exit(99);
    }
    bs_close(&ends[1]);
    while (len < sizeof message - 1 &&
           (n = (ssize_t)BS_RETRY(read(ends[0], message + len, sizeof message - 1 - len))) > 0)
        len += (size_t)n;
    bs_close(&ends[0]);
    assert_int_equal(BS_RETRY(waitpid(pid, &status, 0)), pid);
    assert_string_equal(message, "module runner: cannot close the caller's descriptors: Too many "
                                 "open files\n");
    assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        a_module_that_would_inherit_the_callers_descriptors_is_not_started, folder_setup,
        folder_teardown)};
    return cmocka_run_group_tests_name("module/runner", tests, NULL, NULL);
}
