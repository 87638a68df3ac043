#define _GNU_SOURCE
#include "process/group_end.h"

#include <boxspec/exec.h>

#include <poll.h>
#include <signal.h>

#include "base/sys.h"
#include "exec/group.h"
#include "exec/watch.h"

/* A member that is being forked meanwhile has not seen the signal, so it is sent again. */
bool bs_process_end_group(pid_t pgid) {
    uint64_t until = bs_after_ms(bs_now_ns(), BS_EXEC_KILL_MS);
    for (;;) {
        (void)bs_group_signal(pgid, SIGKILL);
        struct bs_members members = bs_group_look(pgid, pgid, UINT64_MAX);
        if (!members.known)
            return false;
        if (members.alive == 0 || bs_now_ns() >= until)
            return true;
        int witness = members.witness != 0 ? bs_pidfd(members.witness) : -1;
        struct pollfd entry = {.fd = witness, .events = POLLIN};
        (void)BS_RETRY(poll(&entry, 1, witness >= 0 ? BS_EXEC_TICK_MS : 5));
        bs_close(&witness);
    }
}

void bs_process_await_empty_group(pid_t pgid) {
    uint64_t until = bs_after_ms(bs_now_ns(), BS_EXEC_KILL_MS);
    while (!bs_group_empty(pgid) && bs_now_ns() < until)
        (void)poll(NULL, 0, 5);
}
