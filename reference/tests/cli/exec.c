/* Tests how the command passes on the output of a program, for each kind of stdout and stderr. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "cli/commands.h"
#include "support/harness.h"
#include "support/holdings.h"

struct outcome {
    int status;
    char err[512];
};

/* Start boxspec-ref exec -- sh -c SCRIPT in a separate process, with this stdout and stderr. */
static pid_t started(const char *script, int out, int err) {
    char words[][8] = {"exec", "--", "/bin/sh", "-c"};
    char text[256];
    (void)strncpy(text, script, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    char *argv[] = {words[0], words[1], words[2], words[3], text, NULL};
    pid_t pid = fork();
    if (pid == 0) {
        bool good = dup2(out, 1) == 1 && dup2(err, 2) == 2;
        _exit(good ? bs_cli_exec(5, argv) : 99);
    }
    return pid;
}

static struct outcome ran(const char *script, int out) {
    struct outcome outcome = {0, ""};
    size_t len = 0;
    ssize_t n = 0;
    int ends[2];
    int status = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = started(script, out, ends[1]);
    bs_close(&ends[1]);
    bs_close(&out);
    assert_true(pid > 0);
    while (len < sizeof outcome.err - 1 &&
           (n = (ssize_t)BS_RETRY(read(ends[0], outcome.err + len, sizeof outcome.err - 1 - len))) >
               0)
        len += (size_t)n;
    bs_close(&ends[0]);
    assert_int_equal(BS_RETRY(waitpid(pid, &status, 0)), pid);
    assert_true(WIFEXITED(status));
    outcome.status = WEXITSTATUS(status);
    return outcome;
}

static void lost_output_is_an_error(void **state) {
    (void)state;
    struct outcome outcome = ran("echo out; exit 7", open("/dev/full", O_WRONLY | O_CLOEXEC));
    assert_int_equal(outcome.status, 126);
    assert_string_equal(outcome.err,
                        "boxspec-ref: failed to pass stdout on: No space left on device\n");
}

static void a_closed_reader_is_not_an_error(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    bs_close(&ends[0]);
    struct outcome outcome = ran("echo out; echo err >&2; exit 7", ends[1]);
    assert_int_equal(outcome.status, 7);
    assert_string_equal(outcome.err, "err\n");
}

static void a_killed_holder_of_the_output_is_reported(void **state) {
    (void)state;
    struct outcome outcome = ran("sleep 1000 & exit 7", open("/dev/null", O_WRONLY | O_CLOEXEC));
    assert_int_equal(outcome.status, 7);
    assert_string_equal(outcome.err, "boxspec-ref: a background process with an open output was "
                                     "killed; the end of its output may be missing\n");
}

/* The program writes more than a pipe holds, and the reader starts late. A command that does not
 * wait would lose output. */
static void a_nonblocking_stdout_gets_all_output(void **state) {
    enum { BYTES = 1000000 };
    (void)state;
    char data[4096];
    size_t len = 0;
    ssize_t n = 0;
    int out[2];
    int status = 0;
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_true(bs_set_nonblocking(out[1]));
    pid_t pid = started("head -c 1000000 /dev/zero", out[1], 2);
    bs_close(&out[1]);
    assert_true(pid > 0);
    (void)usleep(300000);
    while ((n = (ssize_t)BS_RETRY(read(out[0], data, sizeof data))) > 0)
        len += (size_t)n;
    bs_close(&out[0]);
    assert_int_equal(BS_RETRY(waitpid(pid, &status, 0)), pid);
    assert_int_equal(len, BYTES);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(lost_output_is_an_error),
        leaves_nothing(a_closed_reader_is_not_an_error),
        leaves_nothing(a_killed_holder_of_the_output_is_reported),
        leaves_nothing(a_nonblocking_stdout_gets_all_output),
    };
    return cmocka_run_group_tests_name("cli/exec", tests, NULL, NULL);
}
