#define _GNU_SOURCE
#include "process/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 * 1024 };

/* Move bytes once. Returns false at end-of-file or after an error. */
static bool pass(int from, int to) {
    ssize_t n = splice(from, NULL, to, NULL, MOST, SPLICE_F_MOVE);
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

int relay_run(const char *const *argv) {
    int in[2];
    int out[2];
    pid_t pid = -1;
    int status = 0;
    posix_spawn_file_actions_t actions;
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
        posix_spawn_file_actions_init(&actions) != 0)
        return 1;
    bool ready = posix_spawn_file_actions_adddup2(&actions, in[0], 0) == 0 &&
                 posix_spawn_file_actions_adddup2(&actions, out[1], 1) == 0;
    if (!ready ||
        posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ) != 0)
        return 1;
    (void)close(in[0]);
    (void)close(out[1]);
    struct pollfd set[2] = {{.fd = 0, .events = POLLIN}, {.fd = out[0], .events = POLLIN}};
    while (set[1].fd >= 0 && poll(set, 2, -1) > 0) {
        if (set[0].revents != 0 && !pass(0, in[1])) {
            set[0].fd = -1;
            (void)close(in[1]);
        }
        if (set[1].revents != 0 && !pass(out[0], 1))
            set[1].fd = -1;
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
