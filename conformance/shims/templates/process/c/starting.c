/* Start one program. Your own function replaces this file. */
#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child. Returns only if the program could not be started, with errno. Only
   async-signal-safe calls: another thread may have held a lock at the fork. */
static void become(const struct handle *h, char **argv, char **env, const char *folder,
                   const int streams[3]) {
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL), signal(SIGINT, SIG_DFL), signal(SIGTERM, SIG_DFL);
    if (h->inherit)
        sigprocmask(SIG_SETMASK, h->inherit, NULL);
    for (int at = 0; at < 3; at++)
        dup2(streams[at], at);
    if (folder && chdir(folder) != 0)
        return;
    environ = env;
    execvp(argv[0], argv);
}

static char **words(const char *program, const cJSON *args) {
    char **made = allocate(((size_t)cJSON_GetArraySize(args) + 2) * sizeof *made), **next = made;
    const cJSON *each;
    *next++ = (char *)program;
    cJSON_ArrayForEach(each, args) *next++ = each->valuestring;
    return made;
}

/* Of a variable that is given twice the last value counts. */
static char **variables(const cJSON *pairs) {
    char **made = allocate(((size_t)cJSON_GetArraySize(pairs) + 1) * sizeof *made), **at;
    const cJSON *pair;
    cJSON_ArrayForEach(pair, pairs) {
        const char *start = format("%s=", cJSON_GetArrayItem(pair, 0)->valuestring);
        for (at = made; *at && strncmp(*at, start, strlen(start)) != 0;)
            at++;
        *at = format("%s%s", start, cJSON_GetArrayItem(pair, 1)->valuestring);
    }
    return made;
}

int start(struct handle *h, const cJSON *request, const int modes[3]) {
    const cJSON *env = field(request, "env");
    char **argv = words(string(request, "program"), field(request, "args"));
    char **given = cJSON_IsObject(env) ? variables(field(env, "clear_and_set")) : environ;
    int streams[3], report[2], why = 0;
    for (int at = 0; at < 3; at++) {
        int ends[2] = {-1, -1};
        h->pipes[at] = -1;
        streams[at] = modes[at] == 0 ? at : open("/dev/null", O_RDWR | O_CLOEXEC);
        if (modes[at] == 1 && (close(streams[at]), pipe2(ends, O_CLOEXEC) == 0))
            streams[at] = ends[at > 0], h->pipes[at] = ends[at == 0];
    }
    if (pipe2(report, O_CLOEXEC) != 0) /* the child reports its errno through this pipe */
        return errno;
    pid_t child = fork();
    if (child == 0) {
        become(h, argv, given, string(request, "current_dir"), streams);
        why = errno;
        _exit(write(report[1], &why, sizeof why) < 0 ? 126 : 127);
    }
    if (child < 0)
        why = errno;
    close(report[1]);
    if (child > 0 && read(report[0], &why, sizeof why) > 0)
        waitpid(child, NULL, 0);
    close(report[0]);
    for (int at = 0; at < 3; at++)
        if (modes[at] != 0)
            close(streams[at]);
    h->child = why ? 0 : child;
    return why;
}
