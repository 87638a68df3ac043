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

struct kin {
    pid_t pid;
    pid_t parent;
    pid_t group;
    char state;
    long threads;
};

/* What can be known of it without /proc: whether it is a child of ours, and its group. */
static bool ask_for_kin(pid_t pid, struct kin *kin) {
    siginfo_t info;
    pid_t group = getpgid(pid);
    if (group < 0)
        return false;
    bool is_child = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    *kin = (struct kin){pid, is_child ? getpid() : 0, group, '?', 1};
    return true;
}

/* False: it is gone. */
static bool read_kin(const char *name, struct kin *kin) {
    char path[64];
    char text[512];
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    (void)snprintf(path, sizeof path, "/proc/%s/stat", name);
    int fd = (int)BS_RETRY(open(path, O_RDONLY | O_CLOEXEC));
    ssize_t n = fd >= 0 ? (ssize_t)BS_RETRY(read(fd, text, sizeof text - 1)) : -1;
    bool gone = n < 0 && (errno == ENOENT || errno == ESRCH);
    bs_close(&fd);
    if (n <= 0)
        return !gone && ask_for_kin(pid, kin);
    text[n] = '\0';
    /* The name may hold anything; see proc(5) for the fields behind it. */
    const char *rest = strrchr(text, ')');
    char *end = NULL;
    if (rest == NULL || rest[1] == '\0' || rest[2] == '\0')
        return ask_for_kin(pid, kin);
    kin->pid = pid;
    kin->state = rest[2];
    kin->parent = (pid_t)strtol(rest + 3, &end, 10);
    kin->group = (pid_t)strtol(end, &end, 10);
    kin->threads = 0;
    for (int field = 6; field <= 20; field++)
        kin->threads = strtol(end, &end, 10);
    return true;
}

enum look { SAW_ALL, STOPPED, SAW_LESS };

/* Calls `visit` for every process; stops when it returns true. SAW_LESS: /proc could not be read to
 * its end, so there may be more of them. */
static enum look each_process(bool (*visit)(const struct kin *kin, void *ctx), void *ctx) {
    DIR *proc = opendir("/proc");
    const struct dirent *entry = NULL;
    enum look look = proc != NULL ? SAW_ALL : SAW_LESS;
    while (proc != NULL && look == SAW_ALL) {
        struct kin kin;
        errno = 0;
        entry = readdir(proc);
        if (entry == NULL) {
            look = errno != 0 ? SAW_LESS : SAW_ALL;
            break;
        }
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_kin(entry->d_name, &kin) &&
            visit(&kin, ctx))
            look = STOPPED;
    }
    if (proc != NULL)
        (void)closedir(proc);
    return look;
}

/* The same without /proc: whoever has one of the numbers that the kernel may give, those first that
 * came after us. This takes some tenths of a second. */
static void each_number(bool (*visit)(const struct kin *kin, void *ctx), void *ctx) {
    enum { MOST_NUMBERS = 4 * 1024 * 1024 }; /* PID_MAX_LIMIT */
    pid_t self = getpid();
    for (pid_t i = 1; i < MOST_NUMBERS; i++) {
        struct kin kin;
        if (ask_for_kin((self + i) % MOST_NUMBERS, &kin) && visit(&kin, ctx))
            return;
    }
}

static bool kill_child(const struct kin *kin, void *ctx) {
    const bool *also_in_group = ctx;
    if (kin->parent == getpid() && (*also_in_group || kin->group != getpgrp()))
        (void)kill(kin->pid, SIGKILL); /* an uncollected child: its number is its own */
    return false;
}

void kill_leftovers(bool also_in_group) {
    uint64_t until = 0;
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return;
        if (pid > 0)
            continue;
        if (each_process(kill_child, &also_in_group) == SAW_LESS)
            each_number(kill_child, &also_in_group);
        /* The time is that of those who were killed; the first look has its own. */
        if (until == 0)
            until = bs_after_ms(bs_now_ns(), BS_EXEC_KILL_MS);
        if (!also_in_group || bs_now_ns() >= until)
            return;
        /* Who was killed takes a moment, and its children are ours after that. */
        sigset_t child;
        struct timespec moment = {0, 5 * (long)BS_NS_PER_MS};
        (void)sigemptyset(&child);
        (void)sigaddset(&child, SIGCHLD);
        (void)sigtimedwait(&child, NULL, &moment);
    }
}

static bool is_other(const struct kin *kin, void *ctx) {
    (void)ctx;
    /* One whose first thread has ended looks like a zombie while the others go on. */
    bool alive = (kin->state != 'Z' && kin->state != 'X') || kin->threads > 1;
    return alive && kin->group == getpgrp() && kin->pid != getpid();
}

bool group_may_have_others(void) {
    siginfo_t info;
    enum look look = each_process(is_other, NULL);
    if (look != SAW_LESS)
        return look == STOPPED;
    /* Who collects orphans and has no child has no descendant at all. */
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}
