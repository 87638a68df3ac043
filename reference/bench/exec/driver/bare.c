#define _GNU_SOURCE
#include "bare.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 16 * 1024 };

static int spawn(const char *const *argv, const int writers[2], pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int os_error = posix_spawn_file_actions_init(&actions);
    if (os_error != 0)
        return os_error;
    for (int i = 0; i < 2 && os_error == 0; i++)
        os_error = posix_spawn_file_actions_adddup2(&actions, writers[i], i + 1);
    if (os_error == 0)
        os_error =
            posix_spawn(pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return os_error;
}

/* Read once. Returns 1, or 0 at end-of-file, or -1 with errno. */
static int read_some(int fd, struct bare_buffer *buffer) {
    if (buffer->len == buffer->cap) {
        size_t cap = buffer->cap > 0 ? buffer->cap * 2 : FIRST_CAPACITY;
        char *grown = realloc(buffer->data, cap);
        if (grown == NULL)
            return -1;
        buffer->data = grown;
        buffer->cap = cap;
    }
    ssize_t got = read(fd, buffer->data + buffer->len, buffer->cap - buffer->len);
    if (got < 0)
        return errno == EINTR ? 1 : -1;
    buffer->len += (size_t)got;
    return got > 0;
}

static int drain(struct pollfd set[2], struct bare_run *run) {
    int open_ends = 2;
    while (open_ends > 0) {
        if (poll(set, 2, -1) < 0) {
            if (errno == EINTR)
                continue;
            return errno;
        }
        for (int i = 0; i < 2; i++) {
            if (set[i].revents == 0)
                continue;
            int more = read_some(set[i].fd, &run->streams[i]);
            if (more < 0)
                return errno;
            if (more == 0) {
                (void)close(set[i].fd);
                set[i].fd = -1; /* poll ignores a negative descriptor */
                open_ends--;
            }
        }
    }
    return 0;
}

static int reap(pid_t pid, struct bare_run *run) {
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0)
        if (errno != EINTR)
            return errno;
    run->exit_code = info.si_code == CLD_EXITED ? info.si_status : -1;
    return 0;
}

static void close_all(struct pollfd set[2], int writers[2]) {
    for (int i = 0; i < 2; i++) {
        if (writers[i] >= 0)
            (void)close(writers[i]);
        if (set[i].fd >= 0)
            (void)close(set[i].fd);
    }
}

int bare_exec(const char *const *argv, int pipe_size, struct bare_run *run) {
    struct pollfd set[2] = {{.fd = -1, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
    int writers[2] = {-1, -1};
    int os_error = 0;
    pid_t pid = -1;
    *run = (struct bare_run){.exit_code = -1};
    for (int i = 0; i < 2 && os_error == 0; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            os_error = errno;
            break;
        }
        set[i].fd = ends[0];
        writers[i] = ends[1];
        if (pipe_size > 0 && fcntl(ends[0], F_SETPIPE_SZ, pipe_size) < 0)
            os_error = errno;
    }
    if (os_error == 0)
        os_error = spawn(argv, writers, &pid);
    if (os_error == 0) {
        for (int i = 0; i < 2; i++) {
            (void)close(writers[i]);
            writers[i] = -1;
        }
        os_error = drain(set, run);
        int reap_error = reap(pid, run);
        if (os_error == 0)
            os_error = reap_error;
    }
    close_all(set, writers);
    return os_error;
}

void bare_clear(struct bare_run *run) {
    for (int i = 0; i < 2; i++)
        free(run->streams[i].data);
    *run = (struct bare_run){.exit_code = -1};
}
