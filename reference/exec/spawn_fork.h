/* The second way to start a child, by fork, for what posix_spawn cannot do. On hosts whose filter
 * answers EPERM to clone3, the C library's posix_spawn reports a refusal, while fork() still works
 * through clone. A child that announces its number, or takes the terminal, does so between fork and
 * exec. */
#ifndef BS_EXEC_SPAWN_FORK_H
#define BS_EXEC_SPAWN_FORK_H

#include <stdbool.h>
#include <sys/types.h>

/* All borrowed. Descriptors are above 2 or -1. */
struct bs_launch {
    const char *path;
    char *const *argv;
    char *const *envp;
    int cwd;
    int in;
    int out;
    int err;
    int report;          /* of a launcher, which leads a session */
    int announce;        /* gets the child's number, a pid_t, once it leads its group */
    bool takes_terminal; /* its group becomes the foreground group of the terminal at 0 */
};

/* Asks the kernel with arguments that it must refuse as EINVAL if it looks at them at all. */
bool bs_clone3_refused(void);

/* What a child does on its way to the program; posix_spawn does not tell them apart. */
enum bs_spawn_step {
    BS_STEP_NONE, /* not known, or the program itself */
    BS_STEP_GROUP,
    BS_STEP_ANNOUNCE,
    BS_STEP_DIRECTORY,
    BS_STEP_STDIN,
    BS_STEP_STDOUT,
    BS_STEP_STDERR,
    BS_STEP_REPORT
};

/* 0 or an errno, which may be the child's own; *step says then where it failed. */
int bs_spawn_fork(const struct bs_launch *launch, pid_t *pid, enum bs_spawn_step *step);

#endif
