/* One run of one program. Replace fork, execvp and waitpid by your implementation. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

static const char *text(const cJSON *holder, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(holder, name));
}

/* Runs in the child. Returns only if the program could not be started, with errno. */
static void become(const cJSON *request, const FILE *given, FILE *out, FILE *err) {
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(request, "args"), *each;
    const cJSON *env = cJSON_GetObjectItemCaseSensitive(request, "env");
    const char *folder = text(request, "current_dir"), *stdin_mode = text(request, "stdin");
    char **argv = calloc((size_t)cJSON_GetArraySize(args) + 2, sizeof *argv);
    int at = 0, in = 0;
    argv[at++] = (char *)text(request, "program");
    cJSON_ArrayForEach(each, args) argv[at++] = each->valuestring;
    if (given)
        in = fileno((FILE *)given);
    else if (stdin_mode && strcmp(stdin_mode, "null") == 0)
        in = open("/dev/null", O_RDONLY);
    dup2(in, 0), dup2(fileno(out), 1), dup2(fileno(err), 2);
    if (folder && chdir(folder) != 0)
        return;
    if (cJSON_IsObject(env)) {
        clearenv();
        cJSON_ArrayForEach(each, cJSON_GetObjectItemCaseSensitive(env, "clear_and_set")) setenv(
            cJSON_GetArrayItem(each, 0)->valuestring, cJSON_GetArrayItem(each, 1)->valuestring, 1);
    }
    execvp(argv[0], argv);
}

/* Add the output that a program wrote to a file. */
static void put_all(cJSON *result, const char *name, FILE *stream) {
    long size = (fseek(stream, 0, SEEK_END), ftell(stream));
    unsigned char *data = malloc((size_t)size + 1);
    rewind(stream);
    put(result, name, data, fread(data, 1, (size_t)size, stream));
    free(data);
    fclose(stream);
}

cJSON *run(const cJSON *request) {
    const char *bytes = text(cJSON_GetObjectItemCaseSensitive(request, "stdin"), "bytes");
    FILE *given = bytes ? tmpfile() : NULL, *out = tmpfile(), *err = tmpfile();
    struct timespec from, to;
    int status = 0, report[2], failed = 0;
    cJSON *answer = cJSON_CreateObject(), *inside;
    if (given)
        fputs(bytes, given), rewind(given);
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (pipe2(report, O_CLOEXEC) != 0) /* the child reports its errno through this pipe */
        abort();
    pid_t child = fork();
    if (child == 0) {
        become(request, given, out, err);
        failed = errno;
        _exit(write(report[1], &failed, sizeof failed) < 0 ? 126 : 127);
    }
    close(report[1]);
    if (child < 0 || read(report[0], &failed, sizeof failed) > 0) {
        inside = cJSON_AddObjectToObject(answer, "error");
        cJSON_AddStringToObject(inside, "kind", "execution");
        cJSON_AddStringToObject(inside, "message", strerror(child < 0 ? errno : failed));
        return answer;
    }
    const cJSON *limit = cJSON_GetObjectItemCaseSensitive(request, "timeout_ms");
    double ms;
    bool late = false;
    do {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        clock_gettime(CLOCK_MONOTONIC, &to);
        ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
        if (limit && !late && ms >= limit->valuedouble)
            late = kill(child, SIGKILL) == 0;
    } while (waitpid(child, &status, WNOHANG) == 0);
    inside = cJSON_AddObjectToObject(answer, "result");
    cJSON_AddBoolToObject(inside, "success", WIFEXITED(status) && WEXITSTATUS(status) == 0);
    put_all(inside, "stdout_b64", out), put_all(inside, "stderr_b64", err);
    if (WIFEXITED(status))
        cJSON_AddNumberToObject(inside, "exit_code", WEXITSTATUS(status));
    else
        cJSON_AddNullToObject(inside, "exit_code");
    cJSON_AddNumberToObject(inside, "duration_ms", (double)(long)ms);
    cJSON_AddNullToObject(inside, "output");
    return answer;
}
