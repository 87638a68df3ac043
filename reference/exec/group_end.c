#define _GNU_SOURCE
#include "exec/group_end.h"

#include <boxspec/exec.h>

#include <signal.h>
#include <sys/wait.h>

#include "base/sys.h"
#include "exec/group.h"

/* A killed process usually ends within a millisecond. */
enum { QUICK_MS = 1, QUICK_FOR_MS = 20, SLOW_MS = 10 };

static void reap(struct bs_group_end *end, enum bs_group_end_phase next) {
    siginfo_t info;
    (void)BS_RETRY(waitid(P_PID, (id_t)end->pgid, &info, WEXITED | WNOHANG));
    end->phase = next;
}

static void kill_members(struct bs_group_end *end, uint64_t now) {
    /* At each step again: a member that was being forked missed the last signal. */
    (void)bs_group_signal(end->pgid, SIGKILL);
    struct bs_members members = bs_group_find_members(end->pgid, end->pgid, UINT64_MAX);
    if (!members.known)
        reap(end, BS_GROUP_REAPED);
    else if (members.alive == 0 || now >= end->until)
        reap(end, BS_GROUP_ENDED);
}

bool bs_group_end_step(struct bs_group_end *end, uint64_t now) {
    if (end->phase == BS_GROUP_ENDED || now < end->at)
        return end->phase == BS_GROUP_ENDED;
    if (end->until == 0)
        end->until = bs_after_ms(now, BS_EXEC_KILL_MS);
    if (end->phase == BS_GROUP_KILLED)
        kill_members(end, now);
    if (end->phase == BS_GROUP_REAPED && (bs_group_empty(end->pgid) || now >= end->until))
        end->phase = BS_GROUP_ENDED;
    bool quick = bs_after_ms(now, BS_EXEC_KILL_MS) < bs_after_ms(end->until, QUICK_FOR_MS);
    end->at = bs_after_ms(now, quick ? QUICK_MS : SLOW_MS);
    return end->phase == BS_GROUP_ENDED;
}
