#define _GNU_SOURCE
#include "exec/group.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc_stat.h"
#include "base/sys.h"

static void inspect_member(int proc, const char *name, pid_t pid, pid_t pgid, pid_t leader,
                           uint64_t not_after, struct bs_members *members) {
    struct bs_proc_stat stat = {0};
    switch (bs_proc_stat_read(proc, name, &stat)) {
    case BS_PROC_STAT_GONE:
        return;
    /* getpgid found the process, so count it as alive: waiting once more for a dead process is
     * harmless, missing a live member is not */
    case BS_PROC_STAT_UNREADABLE:
        members->alive++;
        return;
    case BS_PROC_STAT_READ:
        break;
    }
    if (stat.group != pgid || stat.started > not_after)
        return;
    if (!bs_proc_stat_is_dead(&stat)) {
        members->alive++;
        members->live_pid = pid;
        return;
    }
    if (pid != leader && stat.parent == getpid()) {
        siginfo_t info;
        (void)BS_RETRY(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG));
    }
}

struct bs_members bs_group_find_members(pid_t pgid, pid_t leader, uint64_t not_after) {
    struct bs_members members = {false, 0, 0};
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return members;
    const struct dirent *entry = NULL;
    while (errno = 0, (entry = readdir(proc)) != NULL) {
        char *end = NULL;
        long number = strtol(entry->d_name, &end, 10);
        if (number <= 0 || *end != '\0')
            continue;
        pid_t pid = (pid_t)number;
        /* getpgid comes first, because it is fast: 70 processes take 0.04 ms instead of 0.4. */
        if (getpgid(pid) == pgid)
            inspect_member(dirfd(proc), entry->d_name, pid, pgid, leader, not_after, &members);
    }
    members.known = errno == 0;
    (void)closedir(proc);
    return members;
}

uint64_t bs_boot_ticks(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
    return (uint64_t)now.tv_sec * per_second +
           (uint64_t)now.tv_nsec / (UINT64_C(1000000000) / per_second);
}

bool bs_group_signal(pid_t pgid, int signo) {
    if (pgid <= 1 || pgid == getpgrp())
        return true;
    return kill(-pgid, signo) == 0 || errno == ESRCH;
}

bool bs_group_empty(pid_t pgid) { return kill(-pgid, 0) != 0 && errno == ESRCH; }
