#define _GNU_SOURCE
#include <boxspec/process.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "exec/watch.h"
#include "support/harness.h"
#include "support/holdings.h"
#include "support/shell.h"

/* The first thing that a spawn does when the child is there. */
static bool stands_still;

void __real_bs_watch_start(struct bs_watch *watch, pid_t pid);
void __wrap_bs_watch_start(struct bs_watch *watch, pid_t pid);

void __wrap_bs_watch_start(struct bs_watch *watch, pid_t pid) {
    while (stands_still)
        (void)pause();
    __real_bs_watch_start(watch, pid);
}

enum { HELD = 9, WITHIN_MS = 20000 };

static void bridge_to(const char *script) {
    struct bs_exec_request request = SHELL(script);
    struct bs_process_end end;
    request.stdin_mode = BS_STDIN_INHERIT;
    _exit(bs_process_bridge(&request, NULL, &end, NULL) == BS_OK ? end.number : 99);
}

/* The child ends its bridge, which has not come to know its number yet. */
static void a_bridge_that_is_killed_at_once_leaves_nothing(void **state) {
    (void)state;
    int ends[2];
    int status = 0;
    char got[8];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t bridge = fork();
    if (bridge == 0) {
        stands_still = true;
        (void)dup2(ends[1], HELD);
        bridge_to("echo ran >&9; kill -KILL $PPID; exec sleep 60");
    }
    bs_close(&ends[1]);
    assert_int_equal(BS_RETRY(waitpid(bridge, &status, 0)), bridge);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(BS_RETRY(read(ends[0], got, sizeof got)), 4);
    /* Whoever of the group still lived would hold it. */
    struct pollfd entry = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(BS_RETRY(poll(&entry, 1, WITHIN_MS)), 1);
    assert_int_equal(BS_RETRY(read(ends[0], got, sizeof got)), 0);
    bs_close(&ends[0]);
}

static void what_cannot_be_started_leaves_nothing(void **state) {
    (void)state;
    struct bs_exec_request request = SHELL("exit 0");
    struct bs_process_end end;
    struct bs_error err = BS_ERROR_INIT;
    request.stdin_mode = BS_STDIN_INHERIT;
    request.program = "/no/such/program";
    assert_int_equal(bs_process_bridge(&request, NULL, &end, &err), BS_E_EXECUTION);
    assert_int_equal(end.state, BS_PROCESS_RUNS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(a_bridge_that_is_killed_at_once_leaves_nothing),
        leaves_nothing(what_cannot_be_started_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
