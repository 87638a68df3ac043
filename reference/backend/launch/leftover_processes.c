#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "base/proc_stat.h"
#include "base/sys.h"

struct process {
    pid_t pid;
    struct bs_proc_stat stat;
};

/* Find out, without /proc, the process group of a process and whether it is a child of the
 * caller. */
static bool query_process(pid_t pid, struct process *process) {
    siginfo_t info;
    pid_t group = getpgid(pid);
    if (group < 0)
        return false;
    bool is_child = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    *process = (struct process){
        pid, {.state = '?', .parent = is_child ? getpid() : 0, .group = group, .threads = 1}};
    return true;
}

/* Return false if the process has ended. */
static bool read_process(int proc, const char *name, struct process *process) {
    process->pid = (pid_t)strtol(name, NULL, 10);
    switch (bs_proc_stat_read(proc, name, &process->stat)) {
    case BS_PROC_STAT_GONE:
        return false;
    case BS_PROC_STAT_UNREADABLE:
        return query_process(process->pid, process);
    case BS_PROC_STAT_READ:
        break;
    }
    return true;
}

enum scan { SCAN_COMPLETE, SCAN_STOPPED, SCAN_INCOMPLETE };

/* Call `visit` for every process, until `visit` returns true. SCAN_INCOMPLETE means that there may
 * be more processes: /proc could not be read to its end, or it does not show process 1, so it also
 * hides children that are not dumpable (hidepid). */
static enum scan scan_proc(bool (*visit)(const struct process *process, void *ctx), void *ctx) {
    DIR *proc = opendir("/proc");
    const struct dirent *entry = NULL;
    enum scan scan = proc != NULL ? SCAN_COMPLETE : SCAN_INCOMPLETE;
    bool shows_first = false;
    while (proc != NULL && scan == SCAN_COMPLETE) {
        struct process process;
        errno = 0;
        entry = readdir(proc);
        if (entry == NULL) {
            scan = errno != 0 || !shows_first ? SCAN_INCOMPLETE : SCAN_COMPLETE;
            break;
        }
        shows_first = shows_first || strcmp(entry->d_name, "1") == 0;
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            read_process(dirfd(proc), entry->d_name, &process) && visit(&process, ctx))
            scan = SCAN_STOPPED;
    }
    if (proc != NULL)
        (void)closedir(proc);
    return scan;
}

/* As scan_proc, but without /proc: try every number that the kernel may assign to a process,
 * beginning with those after the caller's own number. Takes a few tenths of a second. */
static void scan_pids(bool (*visit)(const struct process *process, void *ctx), void *ctx) {
    enum { MOST_NUMBERS = 4 * 1024 * 1024 }; /* the kernel's PID_MAX_LIMIT */
    pid_t self = getpid();
    for (pid_t i = 1; i < MOST_NUMBERS; i++) {
        struct process process;
        if (query_process((self + i) % MOST_NUMBERS, &process) && visit(&process, ctx))
            return;
    }
}

struct kills {
    bool also_in_group;
    const struct outputs *outputs;
    unsigned killed_outputs;
};

/* An ended process holds no output, but its descriptors cannot be read. So it is not asked. */
static unsigned outputs_of(const struct outputs *outputs, const struct process *process) {
    return bs_proc_stat_is_dead(&process->stat) ? 0 : outputs_held_by(outputs, process->pid);
}

static bool kill_child(const struct process *process, void *ctx) {
    struct kills *kills = ctx;
    if (process->stat.parent != getpid() ||
        (!kills->also_in_group && process->stat.group == getpgrp()))
        return false;
    kills->killed_outputs |= outputs_of(kills->outputs, process);
    /* the number cannot belong to another process, because an unreaped child keeps it */
    (void)kill(process->pid, SIGKILL);
    return false;
}

unsigned kill_leftover_processes(bool also_in_group, const struct outputs *outputs) {
    struct kills kills = {.also_in_group = also_in_group, .outputs = outputs};
    uint64_t until = 0;
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return kills.killed_outputs;
        if (pid > 0)
            continue;
        if (scan_proc(kill_child, &kills) == SCAN_INCOMPLETE)
            scan_pids(kill_child, &kills);
        /* The time limit counts from the first kill, because the first scan may be slow. */
        if (until == 0)
            until = bs_after_ms(bs_now_ns(), BS_EXEC_KILL_MS);
        if (!also_in_group || bs_now_ns() >= until)
            return kills.killed_outputs;
        /* Wait a moment. When a killed process has ended, its children become children of the
         * caller, so the next round kills them. */
        sigset_t child;
        struct timespec moment = {0, 5 * (long)BS_NS_PER_MS};
        (void)sigemptyset(&child);
        (void)sigaddset(&child, SIGCHLD);
        (void)sigtimedwait(&child, NULL, &moment);
    }
}

struct holders {
    const struct outputs *outputs;
    unsigned held;
};

static bool add_held(const struct process *process, void *ctx) {
    struct holders *holders = ctx;
    if (process->pid != getpid())
        holders->held |= outputs_of(holders->outputs, process);
    return false;
}

unsigned outputs_held(const struct outputs *outputs) {
    struct holders holders = {outputs, 0};
    if (scan_proc(add_held, &holders) == SCAN_INCOMPLETE)
        holders.held |= outputs_with_writer(outputs);
    return holders.held;
}

static bool is_live_member(const struct process *process, void *ctx) {
    (void)ctx;
    return !bs_proc_stat_is_dead(&process->stat) && process->stat.group == getpgrp() &&
           process->pid != getpid();
}

bool group_may_have_others(void) {
    siginfo_t info;
    enum scan scan = scan_proc(is_live_member, NULL);
    if (scan != SCAN_INCOMPLETE)
        return scan == SCAN_STOPPED;
    /* A subreaper that has no child has no descendant at all. */
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}
