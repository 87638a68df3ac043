#define _GNU_SOURCE
#include "exec/group.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "support/harness.h"
#include "support/holdings.h"

enum { BOUND_S = 60 };

/* A child in a group of its own that waits to be killed, called by this name in /proc. */
static pid_t start(const char *name, pid_t group) {
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)alarm(BOUND_S);
        (void)setpgid(0, group);
        (void)prctl(PR_SET_NAME, name);
        (void)!write(ready[1], "x", 1);
        for (;;)
            (void)pause();
    }
    bs_close(&ready[1]);
    assert_int_equal(BS_RETRY(read(ready[0], &byte, 1)), 1);
    bs_close(&ready[0]);
    return pid;
}

static void end_without_collecting(pid_t pid) {
    siginfo_t info;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(BS_RETRY(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT)), 0);
}

static void collect(pid_t pid) {
    siginfo_t info;
    assert_int_equal(BS_RETRY(waitid(P_PID, (id_t)pid, &info, WEXITED)), 0);
}

static void names_do_not_pass_for_states(void **state) {
    (void)state;
    static const char *const names[] = {"x) Z 1 1", "a b c", ") ) )", "x) Z 0 0 (", "(", ""};
    for (size_t i = 0; i < LENGTH(names); i++) {
        pid_t leader = start("leader", 0);
        pid_t member = start(names[i], leader);
        assert_int_equal(bs_group_look(leader, leader, UINT64_MAX).alive, 2);
        end_without_collecting(leader);
        struct bs_members members = bs_group_look(leader, leader, UINT64_MAX);
        assert_true(members.known);
        assert_int_equal(members.alive, 1);
        assert_int_equal(members.witness, member);
        end_without_collecting(member);
        assert_int_equal(bs_group_look(leader, leader, UINT64_MAX).alive, 0);
        /* The look collected the member, which was ours, and left the leader. */
        assert_false(bs_group_empty(leader));
        collect(leader);
        assert_true(bs_group_empty(leader));
    }
}

static void members_that_started_later_are_not_looked_at(void **state) {
    (void)state;
    pid_t leader = start("leader", 0);
    assert_int_equal(bs_group_look(leader, leader, 1).alive, 0);
    assert_int_equal(bs_group_look(leader, leader, bs_boot_ticks()).alive, 1);
    end_without_collecting(leader);
    collect(leader);
}

static void nobody_else_is_signalled(void **state) {
    (void)state;
    /* Each of these would end this test. */
    assert_true(bs_group_signal(0, SIGKILL));
    assert_true(bs_group_signal(1, SIGKILL));
    assert_true(bs_group_signal(-1, SIGKILL));
    assert_true(bs_group_signal(getpgrp(), SIGKILL));
}

static void an_empty_group_is_no_refusal(void **state) {
    (void)state;
    pid_t leader = start("leader", 0);
    assert_true(bs_group_signal(leader, SIGKILL));
    collect(leader);
    assert_true(bs_group_signal(leader, SIGKILL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(names_do_not_pass_for_states),
        leaves_nothing(members_that_started_later_are_not_looked_at),
        leaves_nothing(nobody_else_is_signalled),
        leaves_nothing(an_empty_group_is_no_refusal),
    };
    return cmocka_run_group_tests_name("exec/group", tests, NULL, NULL);
}
