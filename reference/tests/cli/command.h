/* Runs a command as a user would, in a directory with a few files, and stores the output and the
 * exit status of the command. */
#ifndef BS_TESTS_CLI_COMMAND_H
#define BS_TESTS_CLI_COMMAND_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/harness.h"

enum { MOST_WORDS = 16 };

struct place {
    struct folder *folder;
    char *before; /* the working directory before the test */
    int out;      /* descriptors of the real stdout and stderr */
    int err;
    int (*command)(int argc, char **argv);
    const char *name;
};

/* Enter a new directory. For set-up functions; `fill` makes the files and returns 0 on success. */
static inline int enter_place(void **state, int (*command)(int argc, char **argv), const char *name,
                              int (*fill)(const struct folder *folder)) {
    struct place *place = calloc(1, sizeof *place);
    if (place == NULL || folder_setup((void **)&place->folder) != 0 || fill(place->folder) != 0)
        return -1;
    place->before = getcwd(NULL, 0);
    place->out = dup(1);
    place->err = dup(2);
    place->command = command;
    place->name = name;
    *state = place;
    return place->before != NULL ? chdir(place->folder->path) : -1;
}

static inline int leave_place(void **state) {
    struct place *place = *state;
    int rc = chdir(place->before);
    (void)close(place->out);
    (void)close(place->err);
    if (folder_teardown((void **)&place->folder) != 0)
        rc = -1;
    free(place->before);
    free(place);
    return rc;
}

struct printed {
    int status;
    char out[8192];
    char err[16384];
};

static inline void read_back(const char *name, int fd, int kept, char *text, size_t size) {
    (void)fflush(fd == 1 ? stdout : stderr);
    assert_true(dup2(kept, fd) == fd);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(file, text, size - 1);
    (void)close(file);
    assert_true(n >= 0);
    text[n] = '\0';
}

static inline void redirect(const char *name, int fd) {
    (void)fflush(fd == 1 ? stdout : stderr);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(dup2(file, fd) == fd);
    (void)close(file);
}

static inline struct printed run_command(void **state, const char *words) {
    const struct place *place = *state;
    struct printed printed;
    char *copy = strdup(words);
    char *argv[MOST_WORDS + 1] = {NULL};
    int argc = 0;
    char command[16];
    (void)snprintf(command, sizeof command, "%s", place->name);
    argv[argc++] = command;
    for (char *at = strtok(copy, " "); at != NULL; at = strtok(NULL, " ")) /* NOLINT */
        argv[argc++] = at;
    redirect("stdout", 1);
    redirect("stderr", 2);
    printed.status = place->command(argc, argv);
    read_back("stdout", 1, place->out, printed.out, sizeof printed.out);
    read_back("stderr", 2, place->err, printed.err, sizeof printed.err);
    free(copy);
    return printed;
}

static inline void assert_prints(void **state, const char *words, int status, const char *out,
                                 const char *err) {
    struct printed printed = run_command(state, words);
    if (printed.status != status || strstr(printed.out, out) == NULL ||
        strstr(printed.err, err) == NULL)
        fail_msg("%s: %d `%s` `%s`", words, printed.status, printed.out, printed.err);
    /* Each message must end with a newline. */
    assert_true(printed.err[0] == '\0' || printed.err[strlen(printed.err) - 1] == '\n');
}

#endif
