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

static bool read_kin(const char *name, struct kin *kin) {
    char path[64];
    char text[512];
    (void)snprintf(path, sizeof path, "/proc/%s/stat", name);
    int fd = (int)BS_RETRY(open(path, O_RDONLY | O_CLOEXEC));
    if (fd < 0)
        return false;
    ssize_t n = (ssize_t)BS_RETRY(read(fd, text, sizeof text - 1));
    bs_close(&fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    /* The name may hold anything; see proc(5) for the fields behind it. */
    const char *rest = strrchr(text, ')');
    char *end = NULL;
    if (rest == NULL || rest[1] == '\0' || rest[2] == '\0')
        return false;
    kin->pid = (pid_t)strtol(name, NULL, 10);
    kin->state = rest[2];
    kin->parent = (pid_t)strtol(rest + 3, &end, 10);
    kin->group = (pid_t)strtol(end, &end, 10);
    kin->threads = 0;
    for (int field = 6; field <= 20; field++)
        kin->threads = strtol(end, &end, 10);
    return true;
}

/* Calls `visit` for every process; stops when it returns true, and returns that. */
static bool each_process(bool (*visit)(const struct kin *kin, void *ctx), void *ctx) {
    DIR *proc = opendir("/proc");
    const struct dirent *entry = NULL;
    bool stopped = false;
    while (proc != NULL && !stopped && (entry = readdir(proc)) != NULL) {
        struct kin kin;
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_kin(entry->d_name, &kin))
            stopped = visit(&kin, ctx);
    }
    if (proc != NULL)
        (void)closedir(proc);
    return stopped;
}

static bool kill_child(const struct kin *kin, void *ctx) {
    const bool *also_in_group = ctx;
    if (kin->parent == getpid() && (*also_in_group || kin->group != getpgrp()))
        (void)kill(kin->pid, SIGKILL); /* an uncollected child: its number is its own */
    return false;
}

void kill_leftovers(bool also_in_group) {
    uint64_t until = bs_after_ms(bs_now_ns(), BS_EXEC_KILL_MS);
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return;
        if (pid > 0)
            continue;
        (void)each_process(kill_child, &also_in_group);
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

bool group_has_others(void) { return each_process(is_other, NULL); }
