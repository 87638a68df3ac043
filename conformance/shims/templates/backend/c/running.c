/* One run of one command, answered as `exec.run` does. This file needs no change. */
#define _GNU_SOURCE
#include "shim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 10 };

/* Add the text of a stream, or its digest if it has more than 1 MiB. */
static void add_stream(cJSON *told, const char *stream, struct bytes raw) {
    struct bytes text = repaired(raw);
    if (text.size <= 1 << 20) {
        add_text(told, stream, text);
        return;
    }
    cJSON *digest = cJSON_AddObjectToObject(told, stream);
    cJSON_AddNumberToObject(digest, "bytes", (double)text.size);
    add_sha256(digest, "sha256", text);
    add_base64(digest, "head_b64", text.data, 4096);
    add_base64(digest, "tail_b64", text.data + text.size - 4096, 4096);
}

cJSON *run(const cJSON *request, char **argv, const char *cwd, char **env) {
    const cJSON *limit = field(request, "timeout_ms");
    struct bytes input = {0}, out = {0}, err = {0};
    int ends[3], why_not = 0, status, in = stdin_of(request, &input);
    double from = now_ms();
    pid_t child = start(argv, cwd, env, in, ends, &why_not);
    if (why_not)
        return failed("execution", format("failed to spawn `%s`: %s", argv[0], strerror(why_not)));
    signal(SIGPIPE, SIG_IGN);
    struct pollfd fds[] = {{ends[0], POLLOUT, 0}, {ends[1], POLLIN, 0}, {ends[2], POLLIN, 0}};
    for (int i = 0; i < 3; i++)
        fcntl(fds[i].fd, F_SETFL, O_NONBLOCK);
    siginfo_t ended = {0};
    bool late = false;
    while (ended.si_pid == 0) {
        poll(fds, 3, TICK_MS);
        late = late || (limit && now_ms() - from >= limit->valuedouble);
        waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT);
        if (late || ended.si_pid) /* not reaped yet, so that no other process has its number */
            kill(-child, SIGKILL);
        feed(&fds[0], &input), drain(&fds[1], &out), drain(&fds[2], &err);
    }
    waitpid(child, &status, 0);
    cJSON *told = cJSON_CreateObject();
    bool exited = WIFEXITED(status) && !late;
    cJSON_AddBoolToObject(told, "success", exited && WEXITSTATUS(status) == 0);
    add_stream(told, "stdout", out), add_stream(told, "stderr", err);
    cJSON_AddItemToObject(told, "exit_code",
                          exited ? cJSON_CreateNumber(WEXITSTATUS(status)) : cJSON_CreateNull());
    cJSON_AddNumberToObject(told, "duration_ms", (double)(long long)(now_ms() - from));
    cJSON_AddNullToObject(told, "output");
    return result(told);
}
