/* Run one program to its end, within a time limit. Your own function replaces this file. */
#define _GNU_SOURCE
#include "shim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 5000, TICK_MS = 10 };

static volatile sig_atomic_t caught;

static void catch (int number) {
    if (!caught)
        caught = number;
}

static const char *reason(bool late) {
    const char *signal = caught == SIGINT ? "SIGINT" : caught == SIGTERM ? "SIGTERM" : "SIGHUP";
    return caught ? signal : late ? "Timeout" : NULL;
}

struct ending run(const char *program, struct bytes input, double limit_ms, const char *folder,
                  char **env) {
    struct ending end = {.code = -1};
    int ends[3], status;
    signal(SIGINT, catch), signal(SIGTERM, catch), signal(SIGHUP, catch);
    double from = now_ms(), kill_at = 0;
    pid_t child = start(program, folder, env, ends, &end.why_not);
    if (end.why_not)
        return end;
    signal(SIGPIPE, SIG_IGN); /* after the start, because a program inherits this */
    struct pollfd fds[] = {{ends[0], POLLOUT, 0}, {ends[1], POLLIN, 0}, {ends[2], POLLIN, 0}};
    for (int i = 0; i < 3; i++)
        fcntl(fds[i].fd, F_SETFL, O_NONBLOCK);
    siginfo_t ended = {0};
    while (ended.si_pid == 0) {
        poll(fds, 3, TICK_MS);
        double now = now_ms();
        if (!end.early && (end.early = reason(now - from >= limit_ms)))
            kill(-child, SIGTERM), kill_at = now + GRACE_MS;
        waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT);
        /* The child is not reaped yet, so that its number belongs to no other process. */
        if (ended.si_pid || (end.early && now >= kill_at))
            kill(-child, SIGKILL);
        feed(&fds[0], &input), drain(&fds[1], &end.out), drain(&fds[2], &end.err);
    }
    waitpid(child, &status, 0);
    end.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return end;
}
