/* A shim that mishandles one failed call. The name of the program selects the mistake. `run.py
 * --prove` must find each of these mistakes. If no call fails, the shim answers correctly. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *me;

static int is(const char *name) { return strcmp(me, name) == 0; }

static void survive(void) {
    if (fork() == 0) {
        (void)setsid();
        for (;;)
            (void)pause();
    }
}

static void leave_a_file(const char *response) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s.left", response);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)close(fd);
}

static int answer(const char *path, const char *text) {
    FILE *out = fopen(path, "we");
    if (out == NULL || fputs(text, out) < 0)
        return 2;
    return fclose(out) == 0 ? 0 : 2;
}

int main(int argc, char **argv) {
    static const char *const whole =
        "{\"id\":\"1\",\"result\":{\"checks\":[{\"allowed\":false}],\"stdout\":\"whole\"}}";
    if (argc != 4)
        return 2;
    me = strrchr(argv[0], '/') != NULL ? strrchr(argv[0], '/') + 1 : argv[0];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return answer(argv[3], whole);
    }
    if (is("crashes"))
        abort();
    if (is("hangs"))
        for (;;)
            (void)pause();
    if (is("survives"))
        survive();
    if (is("leaves-a-file"))
        leave_a_file(argv[3]);
    if (is("leaks-a-descriptor"))
        (void)open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (is("leaks-memory")) {
        /* volatile, because the compiler would remove a malloc whose result is unused */
        void *volatile kept = malloc(10);
        (void)kept;
    }
    if (is("says-nothing"))
        return 2;
    if (is("allows"))
        return answer(argv[3], "{\"id\":\"1\",\"result\":{\"checks\":[{\"allowed\":true}],"
                               "\"stdout\":\"whole\"}}");
    if (is("cuts-output"))
        return answer(argv[3], "{\"id\":\"1\",\"result\":{\"checks\":[{\"allowed\":false}],"
                               "\"stdout\":\"who\"}}");
    if (is("is-no-json"))
        return answer(argv[3], "{\"id\":\"1\",\"error\":]}");
    return answer(argv[3],
                  is("is-right") ? "{\"id\":\"1\",\"error\":{\"kind\":\"execution\"}}" : whole);
}
