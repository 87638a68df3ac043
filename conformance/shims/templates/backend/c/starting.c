/* The stdin of a command, and its start. This file needs no change. */
#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int stdin_of(const cJSON *request, struct bytes *input) {
    const cJSON *given = field(request, "stdin");
    const char *mode = string(request, "stdin");
    struct stat found;
    if (mode && strcmp(mode, "null") == 0)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (cJSON_IsObject(given)) {
        *input = content(given, "bytes");
        return -1;
    }
    /* A program may open a file that is its stdin again in /proc, for writing, past the read-only
       mounts of the sandbox. So it gets a copy. */
    if (fstat(0, &found) != 0 || !S_ISREG(found.st_mode))
        return 0;
    char some[1 << 16];
    for (ssize_t count; (count = read(0, some, sizeof some)) > 0;)
        append(input, some, (size_t)count);
    return -1;
}

pid_t start(char **argv, const char *cwd, char **env, int in, int ends[3], int *why_not) {
    int pipes[4][2]; /* the three streams, and one through which the child reports its errno */
    for (int i = 0; i < 4; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            return *why_not = errno, -1;
    }
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        signal(SIGPIPE, SIG_DFL); /* an earlier run has set this process to ignore it */
        dup2(in >= 0 ? in : pipes[0][0], 0), dup2(pipes[1][1], 1), dup2(pipes[2][1], 2);
        if (chdir(cwd) == 0)
            execvpe(argv[0], argv, env); /* searches in the PATH of this process */
        int why = errno;
        _exit(write(pipes[3][1], &why, sizeof why) < 0 ? 126 : 127);
    }
    if (child < 0)
        *why_not = errno;
    close(pipes[0][0]), close(pipes[1][1]), close(pipes[2][1]), close(pipes[3][1]);
    if (child > 0 && read(pipes[3][0], why_not, sizeof *why_not) > 0)
        waitpid(child, NULL, 0);
    close(pipes[3][0]);
    ends[0] = pipes[0][1], ends[1] = pipes[1][0], ends[2] = pipes[2][0];
    return child;
}
