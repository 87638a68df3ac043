#define _GNU_SOURCE
#include "process/lane.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/watcher.h"
#include "support/harness.h"
#include "support/holdings.h"

/* Turns until the lane is done; poll never waits for what can be read and written at once. */
static void turn_to_the_end(struct bs_lane *lane) {
    while (!bs_lane_is_done(lane)) {
        struct pollfd set[2];
        bs_lane_poll(lane, set);
        assert_true(poll(set, 2, 20000) > 0);
        bs_lane_turn(lane, set);
    }
}

static int lost_of(const char *from, int to) {
    static struct bs_lane lane;
    int opened = open(from, O_RDONLY | O_CLOEXEC);
    assert_true(opened >= 0);
    lane = (struct bs_lane){.from = opened, .to = to};
    turn_to_the_end(&lane);
    assert_int_equal(close(opened), 0);
    return lane.os_error;
}

static void bytes_that_are_lost_are_told(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(lost_of("/proc/self/status", ends[1]), 0);
    /* A directory can be opened and not read. */
    assert_int_equal(lost_of("/", ends[1]), EISDIR);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_int_equal(lost_of("/proc/self/status", full), ENOSPC);
    assert_int_equal(close(full), 0);
    /* A reader that has gone wants nothing more: nothing is lost. */
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(lost_of("/proc/self/status", ends[1]), 0);
    assert_int_equal(close(ends[1]), 0);
    (void)signal(SIGPIPE, SIG_DFL);
}

static void a_watcher_that_has_gone_is_an_error_and_no_signal(void **state) {
    (void)state;
    struct bs_watcher watcher = BS_WATCHER_INIT;
    siginfo_t info;
    assert_int_equal(bs_watcher_start(&watcher), 0);
    assert_int_equal(kill(watcher.pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)watcher.pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(bs_watcher_guard(&watcher, getpid()), EPIPE);
    bs_watcher_release(&watcher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(bytes_that_are_lost_are_told),
        leaves_nothing(a_watcher_that_has_gone_is_an_error_and_no_signal),
    };
    return cmocka_run_group_tests_name("process/lane", tests, NULL, NULL);
}
