#define _GNU_SOURCE
#include "exec/group_end.h"

#include <boxspec/exec.h>

#include <signal.h>
#include <sys/wait.h>

#include "base/sys.h"

/* Check often at first, because a killed process usually ends within a millisecond. */
enum { QUICK_MS = 1, QUICK_FOR_MS = 20, SLOW_MS = 10 };

static bool send_signal(const struct bs_group_end *end, int signo) {
    return end->reach != NULL ? end->reach->signal(end->pgid, signo)
                              : bs_group_signal(end->pgid, signo);
}

static void enter_phase(struct bs_group_end *end, enum bs_group_end_phase phase, uint64_t until) {
    end->phase = phase;
    end->until = until;
    end->live_pid = 0;
}

static void plan_next_step(struct bs_group_end *end, uint64_t now) {
    uint64_t at = end->until;
    if (end->phase == BS_GROUP_GRACE && (end->leader_ended || end->unsent != 0))
        at = bs_after_ms(now, BS_EXEC_TICK_MS);
    if (end->phase == BS_GROUP_KILLED || end->phase == BS_GROUP_REAPED)
        at = bs_after_ms(now, now < bs_after_ms(end->killed_at, QUICK_FOR_MS) ? QUICK_MS : SLOW_MS);
    end->at = bs_earlier(at, end->until);
}

void bs_group_end_start(struct bs_group_end *end, pid_t pgid, int signo, uint64_t grace_ms) {
    end->pgid = pgid;
    end->unsent = send_signal(end, signo) ? 0 : signo;
    (void)send_signal(end, SIGCONT);
    /* The clock is read after the signal: if this process is delayed between the two, the grace
     * period must not become shorter. */
    uint64_t now = bs_now_ns();
    uint64_t until = bs_after_ms(now, grace_ms);
    if (end->phase == BS_GROUP_GRACE)
        until = bs_earlier(until, end->until);
    enter_phase(end, BS_GROUP_GRACE, until);
    plan_next_step(end, now);
}

static void begin_killed(struct bs_group_end *end, uint64_t now) {
    end->killed_at = now;
    enter_phase(end, BS_GROUP_KILLED, bs_after_ms(now, BS_EXEC_KILL_MS));
}

void bs_group_end_kill(struct bs_group_end *end, pid_t pgid, uint64_t now) {
    end->pgid = pgid;
    (void)send_signal(end, SIGKILL);
    begin_killed(end, now);
    plan_next_step(end, now);
}

/* Reap the leader. Before this, its zombie has kept the number of the group from being assigned
 * again. */
static void reap_leader(struct bs_group_end *end, enum bs_group_end_phase next) {
    siginfo_t info;
    (void)BS_RETRY(waitid(P_PID, (id_t)end->pgid, &info, WEXITED | WNOHANG));
    end->reaped_at = bs_boot_ticks();
    enter_phase(end, next, end->until);
}

/* Send SIGKILL and reap the leader at once. If the kernel refuses the signal, the next steps send
 * it again before the reap. */
static void kill_and_reap(struct bs_group_end *end, uint64_t now) {
    bool sent = send_signal(end, SIGKILL);
    begin_killed(end, now);
    if (!sent)
        return;
    /* Killed members may take a moment to end, or may be zombies that their own parent has not
     * reaped yet. */
    reap_leader(end, BS_GROUP_REAPED);
    if (bs_group_empty(end->pgid))
        enter_phase(end, BS_GROUP_ENDED, end->until);
}

void bs_group_end_after_exit(struct bs_group_end *end, pid_t pgid, uint64_t now) {
    end->pgid = pgid;
    end->leader_ended = true;
    kill_and_reap(end, now);
    plan_next_step(end, now);
}

static struct bs_members find_members(struct bs_group_end *end, uint64_t not_after) {
    struct bs_members members = end->reach != NULL
                                    ? end->reach->find(end->pgid, not_after)
                                    : bs_group_find_members(end->pgid, end->pgid, not_after);
    end->live_pid = members.live_pid;
    return members;
}

static void step_grace(struct bs_group_end *end, uint64_t now) {
    if (end->unsent != 0 && send_signal(end, end->unsent))
        end->unsent = 0;
    struct bs_members members = {.known = false};
    if (end->leader_ended)
        members = find_members(end, UINT64_MAX);
    /* Look a second time: a member that forked and ended during the first look has hidden its child
     * from it. */
    if (members.known && members.alive == 0)
        members = find_members(end, UINT64_MAX);
    if (members.known && members.alive == 0)
        kill_and_reap(end, now);
    else if (now >= end->until)
        bs_group_end_kill(end, end->pgid, now);
}

static void step_killed(struct bs_group_end *end, uint64_t now) {
    /* Each step sends SIGKILL again, because a process that a member was forking at the time misses
     * the signal. */
    if (now > end->killed_at)
        (void)send_signal(end, SIGKILL);
    if (!end->leader_ended) {
        if (now < end->until)
            return;
        end->left = 1; /* the leader is in an uninterruptible wait */
        enter_phase(end, BS_GROUP_ENDED, end->until);
        return;
    }
    struct bs_members members = find_members(end, UINT64_MAX);
    if (members.known && members.alive == 0)
        reap_leader(end, BS_GROUP_ENDED);
    else if (!members.known || now >= end->until)
        reap_leader(end, BS_GROUP_REAPED);
}

static void step_reaped(struct bs_group_end *end, uint64_t now) {
    struct bs_members members = find_members(end, end->reaped_at);
    unsigned alive = members.alive;
    if (!members.known)
        alive = bs_group_empty(end->pgid) ? 0 : 1;
    if (alive > 0 && now < end->until)
        return;
    end->left = alive;
    enter_phase(end, BS_GROUP_ENDED, end->until);
}

bool bs_group_end_step(struct bs_group_end *end, bool leader_ended, uint64_t now) {
    if (leader_ended && !end->leader_ended) {
        end->leader_ended = true;
        end->at = 0;
    }
    if (end->phase == BS_GROUP_ENDED || now < end->at)
        return end->phase == BS_GROUP_ENDED;
    if (end->phase == BS_GROUP_GRACE)
        step_grace(end, now);
    else if (end->phase == BS_GROUP_KILLED)
        step_killed(end, now);
    if (end->phase == BS_GROUP_REAPED)
        step_reaped(end, now);
    plan_next_step(end, now);
    return end->phase == BS_GROUP_ENDED;
}
