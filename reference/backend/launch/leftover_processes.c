#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/launch/launch.h"
#include "base/sys.h"

struct process {
    pid_t pid;
    pid_t parent;
    pid_t group;
    char state;
    long threads;
};

/* Learn without /proc: the process group, and whether it is a child of the caller. */
static bool query_process(pid_t pid, struct process *process) {
    siginfo_t info;
    pid_t group = getpgid(pid);
    if (group < 0)
        return false;
    bool is_child = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    *process = (struct process){pid, is_child ? getpid() : 0, group, '?', 1};
    return true;
}

/* Return false if the process has ended. */
static bool read_process(const char *name, struct process *process) {
    char path[64];
    char text[512];
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    (void)snprintf(path, sizeof path, "/proc/%s/stat", name);
    int fd = (int)BS_RETRY(open(path, O_RDONLY | O_CLOEXEC));
    ssize_t n = fd >= 0 ? (ssize_t)BS_RETRY(read(fd, text, sizeof text - 1)) : -1;
    bool gone = n < 0 && (errno == ENOENT || errno == ESRCH);
    bs_close(&fd);
    if (n <= 0)
        return !gone && query_process(pid, process);
    text[n] = '\0';
    /* The name may contain any character; for the fields after it see proc(5). */
    const char *rest = strrchr(text, ')');
    char *end = NULL;
    if (rest == NULL || rest[1] == '\0' || rest[2] == '\0')
        return query_process(pid, process);
    process->pid = pid;
    process->state = rest[2];
    process->parent = (pid_t)strtol(rest + 3, &end, 10);
    process->group = (pid_t)strtol(end, &end, 10);
    process->threads = 0;
    for (int field = 6; field <= 20; field++)
        process->threads = strtol(end, &end, 10);
    return true;
}

enum scan { SCAN_COMPLETE, SCAN_STOPPED, SCAN_INCOMPLETE };

/* Call `visit` for every process until it returns true. SCAN_INCOMPLETE: /proc could not be read to
 * its end, so there may be more processes. */
static enum scan scan_proc(bool (*visit)(const struct process *process, void *ctx), void *ctx) {
    DIR *proc = opendir("/proc");
    const struct dirent *entry = NULL;
    enum scan scan = proc != NULL ? SCAN_COMPLETE : SCAN_INCOMPLETE;
    while (proc != NULL && scan == SCAN_COMPLETE) {
        struct process process;
        errno = 0;
        entry = readdir(proc);
        if (entry == NULL) {
            scan = errno != 0 ? SCAN_INCOMPLETE : SCAN_COMPLETE;
            break;
        }
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            read_process(entry->d_name, &process) && visit(&process, ctx))
            scan = SCAN_STOPPED;
    }
    if (proc != NULL)
        (void)closedir(proc);
    return scan;
}

/* The same without /proc: try each number that the kernel may assign, beginning with those after
 * the caller's own. It takes a few tenths of a second. */
static void scan_pids(bool (*visit)(const struct process *process, void *ctx), void *ctx) {
    enum { MOST_NUMBERS = 4 * 1024 * 1024 }; /* PID_MAX_LIMIT */
    pid_t self = getpid();
    for (pid_t i = 1; i < MOST_NUMBERS; i++) {
        struct process process;
        if (query_process((self + i) % MOST_NUMBERS, &process) && visit(&process, ctx))
            return;
    }
}

static bool kill_child(const struct process *process, void *ctx) {
    const bool *also_in_group = ctx;
    if (process->parent == getpid() && (*also_in_group || process->group != getpgrp()))
        (void)kill(process->pid, SIGKILL); /* an unreaped child keeps its number */
    return false;
}

void kill_leftover_processes(bool also_in_group) {
    uint64_t until = 0;
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return;
        if (pid > 0)
            continue;
        if (scan_proc(kill_child, &also_in_group) == SCAN_INCOMPLETE)
            scan_pids(kill_child, &also_in_group);
        /* The limit counts from the first kill, because the first scan may be slow. */
        if (until == 0)
            until = bs_after_ms(bs_now_ns(), BS_EXEC_KILL_MS);
        if (!also_in_group || bs_now_ns() >= until)
            return;
        /* A killed process takes a moment to end; then its children become children of the caller.
         */
        sigset_t child;
        struct timespec moment = {0, 5 * (long)BS_NS_PER_MS};
        (void)sigemptyset(&child);
        (void)sigaddset(&child, SIGCHLD);
        (void)sigtimedwait(&child, NULL, &moment);
    }
}

static bool is_live_member(const struct process *process, void *ctx) {
    (void)ctx;
    /* A process whose main thread has ended looks like a zombie while other threads run. */
    bool alive = (process->state != 'Z' && process->state != 'X') || process->threads > 1;
    return alive && process->group == getpgrp() && process->pid != getpid();
}

bool group_may_have_others(void) {
    siginfo_t info;
    enum scan scan = scan_proc(is_live_member, NULL);
    if (scan != SCAN_INCOMPLETE)
        return scan == SCAN_STOPPED;
    /* A subreaper without a child has no descendant at all. */
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}
