#define _GNU_SOURCE
#include "module/hiding.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/holdings.h"

static bool can_open_environ(pid_t pid) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

/* Start this program again as a child without the capabilities to read any process, as the runner
 * starts a module. Return true if the child could open /proc/PID/environ of this process. */
static bool child_reads_environ(void) {
    pid_t child = fork();
    if (child == 0) {
        bs_hiding_drop_capabilities();
        (void)execl("/proc/self/exe", "hiding", "--open-environ-of-parent", (char *)NULL);
        _exit(2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
    return WEXITSTATUS(status) == 0;
}

static void a_child_cannot_read_the_environment_of_a_hidden_caller(void **state) {
    (void)state;
    assert_false(bs_hiding_is_incomplete());
    assert_true(bs_hiding_begin());
    assert_false(child_reads_environ());
    bs_hiding_end();
}

static void the_last_lower_restores_the_setting(void **state) {
    (void)state;
    assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
    assert_true(bs_hiding_begin());
    assert_true(bs_hiding_begin());
    bs_hiding_end();
    assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
    bs_hiding_end();
    assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
}

static void a_caller_that_is_not_dumpable_stays_so(void **state) {
    (void)state;
    assert_int_equal(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
    assert_true(bs_hiding_begin());
    bs_hiding_end();
    assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
}

static void a_child_has_none_of_the_capabilities(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        bs_hiding_drop_capabilities();
        bool kept = prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE, 0, 0, 0) == 1 ||
                    prctl(PR_CAPBSET_READ, CAP_PERFMON, 0, 0, 0) == 1 ||
                    prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1;
        _exit(geteuid() == 0 && kept);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1)
        return can_open_environ(getppid()) ? 0 : 1;
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_child_cannot_read_the_environment_of_a_hidden_caller),
        leaves_nothing(the_last_lower_restores_the_setting),
        leaves_nothing(a_caller_that_is_not_dumpable_stays_so),
        leaves_nothing(a_child_has_none_of_the_capabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
