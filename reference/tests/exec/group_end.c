/* Tests the steps that end a process group, with real processes. */
#define _GNU_SOURCE
#include "exec/group_end.h"

#include <boxspec/exec.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "exec/group.h"
#include "support/harness.h"
#include "support/holdings.h"

int __real_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo);

static int refused; /* a signal that the kernel refuses to send; 0: none */
static unsigned sent[NSIG];
static uint64_t sent_at[NSIG];
static int delay_ms; /* delay before each signal */

int __wrap_kill(pid_t pid, int signo) {
    if (signo != 0 && signo == refused) {
        errno = EPERM;
        return -1;
    }
    sent[signo]++;
    (void)poll(NULL, 0, delay_ms);
    sent_at[signo] = bs_now_ns();
    return __real_kill(pid, signo);
}

/* Start the leader of a group, and a member, which is a child of the leader. Both ignore SIGTERM if
 * `stubborn` is true. The leader exits at once if `exits` is true. */
static pid_t start_group(bool stubborn, bool exits) {
    int ready[2];
    char byte = 0;
    refused = 0;
    for (size_t i = 0; i < LENGTH(sent); i++)
        sent[i] = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t leader = fork();
    if (leader == 0) {
        (void)setpgid(0, 0);
        if (stubborn)
            (void)signal(SIGTERM, SIG_IGN);
        pid_t member = fork();
        if (member != 0 && exits)
            _exit(0);
        (void)!write(ready[1], "r", member == 0);
        for (;;)
            (void)pause();
    }
    assert_true(leader > 0);
    assert_int_equal(BS_RETRY(read(ready[0], &byte, 1)), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    return leader;
}

static bool has_ended(pid_t leader) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)leader, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

/* Step until the group has ended. The clock of the steps is `ahead_ms` ahead of the real one. */
static void step_to_the_end(struct bs_group_end *end, pid_t leader, uint64_t ahead_ms) {
    bool leader_ended = false;
    for (;;) {
        uint64_t now = bs_after_ms(bs_now_ns(), ahead_ms);
        leader_ended = leader_ended || has_ended(leader);
        if (bs_group_end_step(end, leader_ended, now))
            return;
        uint64_t at = leader_ended ? end->at : bs_after_ms(now, 1);
        (void)poll(NULL, 0, bs_poll_timeout(now, at));
    }
}

static void assert_group_is_gone(pid_t leader) {
    assert_int_equal(waitpid(leader, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(bs_group_find_members(leader, 0, UINT64_MAX).alive, 0);
}

static void members_that_obey_end_within_the_grace_period(void **state) {
    (void)state;
    struct bs_group_end end = {0};
    pid_t leader = start_group(false, false);
    bs_group_end_start(&end, leader, SIGTERM, BS_EXEC_GRACE_MS);
    assert_int_equal(end.phase, BS_GROUP_GRACE);
    step_to_the_end(&end, leader, 0);
    assert_int_equal(sent[SIGTERM], 1);
    assert_int_equal(sent[SIGCONT], 1);
    assert_int_equal(end.left, 0);
    assert_group_is_gone(leader);
}

static void a_group_is_killed_after_the_grace_period(void **state) {
    (void)state;
    struct bs_group_end end = {0};
    pid_t leader = start_group(true, false);
    bs_group_end_start(&end, leader, SIGTERM, BS_EXEC_GRACE_MS);
    assert_false(bs_group_end_step(&end, false, bs_now_ns()));
    assert_int_equal(end.phase, BS_GROUP_GRACE);
    assert_int_equal(sent[SIGKILL], 0);
    step_to_the_end(&end, leader, BS_EXEC_GRACE_MS);
    assert_true(sent[SIGKILL] >= 1);
    assert_group_is_gone(leader);
}

static void a_delay_before_the_signal_does_not_shorten_the_grace_period(void **state) {
    (void)state;
    struct bs_group_end end = {0};
    pid_t leader = start_group(true, false);
    delay_ms = 20;
    bs_group_end_start(&end, leader, SIGTERM, BS_EXEC_GRACE_MS);
    delay_ms = 0;
    assert_true(end.until >= bs_after_ms(sent_at[SIGTERM], BS_EXEC_GRACE_MS));
    step_to_the_end(&end, leader, BS_EXEC_GRACE_MS);
    assert_group_is_gone(leader);
}

static void a_member_keeps_its_grace_period_after_the_end_of_the_leader(void **state) {
    (void)state;
    struct bs_group_end end = {0};
    pid_t leader = start_group(true, true);
    bs_group_end_start(&end, leader, SIGTERM, BS_EXEC_GRACE_MS);
    while (!has_ended(leader))
        (void)poll(NULL, 0, 1);
    assert_false(bs_group_end_step(&end, true, bs_now_ns()));
    assert_int_equal(end.phase, BS_GROUP_GRACE);
    assert_true(end.live_pid > 0);
    assert_int_equal(sent[SIGKILL], 0);
    step_to_the_end(&end, leader, BS_EXEC_GRACE_MS);
    assert_group_is_gone(leader);
}

static void a_second_start_keeps_the_earlier_end_of_the_grace_period(void **state) {
    (void)state;
    struct bs_group_end end = {0};
    pid_t leader = start_group(true, true);
    bs_group_end_start(&end, leader, SIGTERM, BS_EXEC_GRACE_MS);
    uint64_t until = end.until;
    while (!has_ended(leader))
        (void)poll(NULL, 0, 1);
    assert_false(bs_group_end_step(&end, true, bs_now_ns()));
    bs_group_end_start(&end, leader, SIGTERM, 2UL * BS_EXEC_GRACE_MS);
    assert_true(end.until == until);
    /* The leader has ended, so the next step must be due soon and not at the end of the grace
     * period. */
    assert_true(end.at <= bs_after_ms(bs_now_ns(), BS_EXEC_TICK_MS));
    bs_group_end_start(&end, leader, SIGTERM, 0);
    assert_true(end.until <= bs_now_ns());
    step_to_the_end(&end, leader, 0);
    assert_group_is_gone(leader);
}

static void the_rest_of_a_group_is_killed_after_an_exit(void **state) {
    (void)state;
    struct bs_group_end end = {0};
    pid_t leader = start_group(true, true);
    while (!has_ended(leader))
        (void)poll(NULL, 0, 1);
    bs_group_end_after_exit(&end, leader, bs_now_ns());
    assert_int_equal(sent[SIGKILL], 1);
    step_to_the_end(&end, leader, 0);
    assert_int_equal(end.left, 0);
    assert_group_is_gone(leader);
}

static void a_signal_that_is_refused_is_sent_again(void **state) {
    (void)state;
    static const int signals[] = {SIGTERM, SIGKILL};
    for (size_t i = 0; i < LENGTH(signals); i++) {
        struct bs_group_end end = {0};
        pid_t leader = start_group(false, false);
        uint64_t now = bs_now_ns();
        refused = signals[i];
        if (signals[i] == SIGTERM)
            bs_group_end_start(&end, leader, SIGTERM, BS_EXEC_GRACE_MS);
        else
            bs_group_end_kill(&end, leader, now);
        assert_false(bs_group_end_step(&end, false, now));
        refused = 0;
        step_to_the_end(&end, leader, BS_EXEC_TICK_MS);
        assert_true(sent[signals[i]] >= 1);
        assert_group_is_gone(leader);
    }
}

/* SIGKILL does not end this leader, as if it were in an uninterruptible wait. */
static void a_leader_that_does_not_end_is_given_up(void **state) {
    (void)state;
    struct bs_group_end end = {0};
    pid_t leader = start_group(false, false);
    uint64_t now = bs_now_ns();
    refused = SIGKILL;
    bs_group_end_kill(&end, leader, now);
    assert_false(bs_group_end_step(&end, false, bs_after_ms(now, BS_EXEC_KILL_MS - 1)));
    assert_true(bs_group_end_step(&end, false, bs_after_ms(now, BS_EXEC_KILL_MS)));
    assert_int_equal(end.left, 1);
    refused = 0;
    bs_group_end_kill(&end, leader, bs_now_ns());
    step_to_the_end(&end, leader, 0);
    assert_group_is_gone(leader);
}

static void members_that_do_not_end_are_counted_as_left(void **state) {
    (void)state;
    struct bs_group_end end = {0};
    pid_t leader = start_group(true, true);
    while (!has_ended(leader))
        (void)poll(NULL, 0, 1);
    uint64_t now = bs_now_ns();
    refused = SIGKILL;
    bs_group_end_kill(&end, leader, now);
    assert_false(bs_group_end_step(&end, true, now));
    pid_t member = end.live_pid;
    assert_true(bs_group_end_step(&end, true, bs_after_ms(now, BS_EXEC_KILL_MS)));
    assert_int_equal(end.left, 1);
    assert_int_equal(waitpid(leader, NULL, WNOHANG), -1);
    (void)__real_kill(member, SIGKILL);
    while (bs_group_find_members(leader, 0, UINT64_MAX).alive > 0)
        (void)poll(NULL, 0, 1);
}

static unsigned reached[NSIG]; /* the signals that were sent through `reach` */
static unsigned found_alive;

static bool count_signal(pid_t pgid, int signo) {
    (void)pgid;
    reached[signo]++;
    return true;
}

static struct bs_members find_counted(pid_t pgid, uint64_t not_after) {
    (void)pgid;
    (void)not_after;
    return (struct bs_members){.known = true, .alive = found_alive};
}

/* The launcher passes its own functions to signal and to find processes, because it ends a
 * namespace or its own group. */
static void a_reach_replaces_the_signals_and_the_search(void **state) {
    (void)state;
    static const struct bs_group_reach reach = {count_signal, find_counted};
    struct bs_group_end end = {.reach = &reach};
    pid_t leader = start_group(false, false);
    bs_group_end_start(&end, leader, SIGTERM, BS_EXEC_GRACE_MS);
    found_alive = 1;
    assert_false(bs_group_end_step(&end, true, bs_now_ns()));
    assert_int_equal(end.phase, BS_GROUP_GRACE);
    found_alive = 0;
    end.at = 0;
    assert_true(bs_group_end_step(&end, true, bs_now_ns()));
    assert_int_equal(reached[SIGTERM], 1);
    assert_int_equal(reached[SIGCONT], 1);
    assert_int_equal(reached[SIGKILL], 1);
    assert_int_equal(sent[SIGTERM] + sent[SIGCONT] + sent[SIGKILL], 0);
    (void)__real_kill(-leader, SIGKILL);
    (void)waitpid(leader, NULL, 0);
    while (bs_group_find_members(leader, 0, UINT64_MAX).alive > 0)
        (void)poll(NULL, 0, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        leaves_nothing(members_that_obey_end_within_the_grace_period),
        leaves_nothing(a_group_is_killed_after_the_grace_period),
        leaves_nothing(a_delay_before_the_signal_does_not_shorten_the_grace_period),
        leaves_nothing(a_member_keeps_its_grace_period_after_the_end_of_the_leader),
        leaves_nothing(a_second_start_keeps_the_earlier_end_of_the_grace_period),
        leaves_nothing(the_rest_of_a_group_is_killed_after_an_exit),
        leaves_nothing(a_signal_that_is_refused_is_sent_again),
        leaves_nothing(a_leader_that_does_not_end_is_given_up),
        leaves_nothing(members_that_do_not_end_are_counted_as_left),
        leaves_nothing(a_reach_replaces_the_signals_and_the_search),
    };
    return cmocka_run_group_tests_name("exec/group_end", tests, NULL, NULL);
}
